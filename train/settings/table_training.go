package settings

// lengthSettings say how long to train, and how much at once.
func (c *Config) lengthSettings() []Setting {
	return []Setting{
		{
			Name: "epochs", Aliases: []string{"iter", "epoch"}, Modes: inEpochs, Record: true, Resume: true, value: &c.Epochs,
			help: "train `N` epochs: passes over the text, or over M with --model sg, where one is --contexts iterations",
		},
		{
			Name: "iterations", Modes: inIterations, Record: true, Resume: true, value: &c.Iterations,
			help: "train `N` iterations; 0 means --epochs; without these, models positional and cbow train 2,048 to 4,096, or 1,024 on a short text",
		},
		{
			Name: "budget", Modes: atRate, Record: true, Resume: true, value: &c.Budget,
			help: "train for a `BUDGET` of time or work, in place of --epochs and --iterations: a time, building M included (60s, 10m), or a number of pairs (2e9pairs) or words (5e8words)",
		},
		{
			Name: "batch", Aliases: []string{"batch-size"}, Modes: inBatches, Record: true, value: &c.Batch,
			help: "`N` positive pairs in a minibatch; in mode parw2v words that share negatives; in mode cl words of an iteration, where 0 means 45,000, or fewer if the vocabulary or the text is small",
		},
	}
}

// syncSettings say how the changes of several GPUs, ranks or threads meet.
func (c *Config) syncSettings() []Setting {
	return []Setting{
		{
			Name: "combine-rule", Study: true, Modes: withSync, Record: true, value: &c.CombineRule,
			help:    "how GPUs or ranks that share the text combine their changes of a row",
			Choices: combineRuleChoices(),
		},
		{
			Name: "sync", Study: true, Modes: withSync, Record: true, value: &c.Sync,
			help: "GPUs or ranks that share the text combine their tables every `N` " +
				"words of the text, and at the end of an epoch (default: GPUs 128 times in a run, or 16 times if they " +
				"exchange data by NCCL, ranks without GPUs 4 times an epoch; " +
				"all at least every 16 million words, but GPUs not before 16 words for each of a vocabulary above a million)",
			hideDefault: true,
		},
	}
}

// rateSettings say how gradients change the tables.
func (c *Config) rateSettings() []Setting {
	return []Setting{
		{
			Name: "lr", Aliases: []string{"alpha", "learning-rate"},
			Modes: atRate, Record: true, Resume: true, value: &c.LR,
			help: "learning rate `X` at the start (in mode cl the default follows from --optimizer and --dim)",
		},
		{
			Name: "decay", Modes: atRate, Record: true, value: &c.Decay,
			help: "how the learning rate falls", Choices: decayChoices,
		},
		{
			Name: "lr-end", Aliases: []string{"min-alpha"},
			Modes: atRate, Record: true, Resume: true, value: &c.LREnd,
			help: "learning rate `X` at the end of a decay",
		},
		{
			Name: "optimizer", Modes: withOptimizer, Record: true, value: &c.Optimizer,
			help: "how gradients change the tables", Choices: optimizerChoices(),
		},
		{
			Name: "weight-decay", Modes: withOptimizer, Record: true, value: &c.WeightDecay,
			help: "decoupled weight decay `X`",
		},
		{
			Name: "together", Study: true, Modes: atOnce, Record: true, value: &c.Together,
			help: "update both tables at once, each against the old rows of the other, in place of two steps (on the CPU); in mode fullw2v, " +
				"where it is the default, all pairs of a window at once, in place of one after the other as published",
		},
	}
}
