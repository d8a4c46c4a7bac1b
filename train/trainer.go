package train

import "github.com/w2vcl/w2vcl/trainer"

type (
	// A Trainer is what every mode implements.
	Trainer = trainer.Trainer
	// A Report says what one unit of training did.
	Report = trainer.Report
	// A Tensor is a named part of a trainer's state.
	Tensor = trainer.Tensor
)
