// Package settings turns recipe, configuration file and flags into a validated
// [Config], and says everything that the program says of settings: their names,
// help, choices, and which mode uses which.
//
// Start at [Resolve]. Each list stands in one place:
//
//   - [Config.Settings], in table.go and the files table_*.go: the settings;
//   - the rows of mode.go: the modes and their abilities. A setting names the ability that it belongs to;
//   - choices.go: the names that a setting lets one choose from. Optimizers and
//     sentence-ordered modes come from the tables of packages optim and sequential;
//   - recipes.go: the defaults of every mode and preset.
//
// Help, validation, completion, refusals and the recorded config.toml follow from
// these lists. trainers.go turns a Config into the options of the trainers.
package settings
