// Package train is the life of a run: it turns settings into a validated
// [Config], a config into a plan, a plan into vectors, and leaves a run folder
// behind.
//
// Start reading at [Run]. What it goes through, in order:
//
//   - [Resolve] layers the settings: recipe of the mode and preset
//     (recipes.go), configuration file, flags. One table, [Config.Settings],
//     feeds flags, help, the names in TOML and the recorded configuration.
//   - prepare.go reads the corpus, builds or opens the matrix M and the
//     source of negatives, and knows how to make the mode's [Trainer].
//   - plan.go says beforehand what the run will cost.
//   - loop.go trains: it owns learning rate, clock, metrics, progress and
//     what happens on an interrupt or when the loss is no longer a number.
//   - folder.go makes the run folder appear whole or not at all.
//
// A mode is one entry of the table in modes.go and one implementation of
// [Trainer]; nothing else in this room knows one mode from another.
package train
