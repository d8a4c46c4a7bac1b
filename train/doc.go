// Package train is the life of a run: it turns settings into a validated
// [Config], a config into a plan, a plan into vectors, and leaves a run folder
// behind.
//
// Start reading at [Run]. What it goes through, in order:
//
//   - [Resolve] layers the settings: recipe of the mode and preset
//     (recipes.go), configuration file, flags. One table, [Config.Settings],
//     feeds flags, help, the names in TOML and the recorded configuration.
//   - folder.go makes OUT.partial, and at last OUT of it. Its first comment
//     lists the states that a run's folder can be in.
//   - prepare.go reads the corpus, builds or opens the matrix M and the
//     source of negatives, and makes the mode's [Trainer], if memory.go finds
//     that there is room for it.
//   - encoder.go makes what composes word vectors from spelling, if they are
//     to be, and writes it to the folder at last.
//   - plan.go says beforehand what the run will cost.
//   - loop.go trains: it owns learning rate, clock, metrics, progress and
//     what happens on an interrupt or when the loss is no longer a number.
//   - saver.go says when a checkpoint is due and what if it cannot be
//     written; checkpoint.go is its file.
//
// [Resume], in resume.go, takes the settings from the folder instead and lets
// the loop begin where the checkpoint says. Everything random follows from the
// seed and the number of the unit, so nothing else is different.
//
// A mode is one entry of the table in modes.go and one implementation of
// [Trainer]; nothing else in this room knows one mode from another.
package train
