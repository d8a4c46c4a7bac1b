// Package train is the life of a run: it plans the training of a [settings.Config],
// trains vectors, and leaves a run folder behind.
//
// Start at [Run]. It goes through these files in order:
//
//   - prepare.go reads the corpus (text.go), builds or opens the matrix M (maker.go),
//     and makes the trainer of the mode if memory.go finds that it fits. executor.go
//     chooses what trains: this process, GPUs (gpu.go), or
//     several ranks (ranks.go).
//   - plan.go tells beforehand what the run will cost.
//   - loop.go trains: it owns learning rate, clock, metrics and progress, and
//     handles an interrupt or a loss that is no number.
//     work.go says how much is done, and what is due.
//   - saver.go says when a checkpoint is due and handles one that cannot be
//     written.
//   - export.go writes the vectors.
//
// [Resume], in resume.go, takes the settings from the run folder and starts
// the loop at the checkpoint. All random numbers depend only on the seed and
// the number of the unit, so nothing else differs.
//
// Package settings has the settings, package runfolder the files, package trainer
// the contract with the modes. prepare.go and the executors tell families of modes apart.
package train
