package settings

// sampleSettings say which vectors are trained, on which samples.
func (c *Config) sampleSettings() []Setting {
	return []Setting{
		{
			Name: "dim", Aliases: []string{"size", "vector-size", "layer1-size"}, Record: true, value: &c.Dim,
			help: "dimensions `N` of a vector",
		},
		{
			Name: "window", Aliases: []string{"ws"}, Record: true, value: &c.Window,
			help: "words `N` on either side of the centre word (fullw2v, fullregister: " +
				"half of it, rounded up, is the radius W_f)",
		},
		{
			Name: "dynamic-window", Aliases: []string{"shrink-windows"}, Modes: inRandomWindows, Record: true, value: &c.DynamicWindow,
			help: "draw each window's size from 1 to --window, as word2vec " +
				"does; =false fixes it (ppmi counts the mean of all draws)",
		},
		{
			Name: "hierarchical-softmax", Aliases: []string{"hs"},
			Modes: withTree, Record: true, value: &c.HierarchicalSoftmax,
			help: "predict words by their paths in a Huffman tree, without negatives, on the CPU",
		},
		{
			Name: "negative", Aliases: []string{"neg"},
			Modes: onNegatives, Negatives: true, Record: true, value: &c.Negative,
			help: "negatives `K` for each positive pair",
		},
		{
			Name: "noise", Modes: withNoise, Negatives: true, Record: true, value: &c.Noise,
			help: "where negatives come from", Choices: noiseChoices(),
		},
		{
			Name: "noise-exponent", Study: true, Aliases: []string{"ns-exponent"},
			Modes: withNoiseExponent, Negatives: true, Record: true, value: &c.NoiseExponent,
			help: "draw negatives by the counts of --noise to the power `X`, with 0 all words alike; in mode ppmi, raise the counts of contexts to that power " +
				"(the default follows from --noise and --mode)",
			hideDefault: true,
		},
		{
			Name: "sample", Aliases: []string{"subsample", "t"}, Record: true, value: &c.Sample,
			help: "subsample words more frequent than `T`; 0 keeps all; -1, the default of mode cl without --model sg, means 1,600 " +
				"occurrences in the text (cbow: 800)",
		},
	}
}

// rowSettings say which samples of M the words have in mode cl.
func (c *Config) rowSettings() []Setting {
	return []Setting{
		{
			Name: "contexts", Modes: withMatrix, Record: true, value: &c.Contexts,
			help: "`L` iterations an epoch: M has about --positives times L context samples for each word",
		},
		{
			Name: "tempering", Modes: withMatrix, Record: true, value: &c.Tempering,
			help: "give words samples in proportion to the power `X` of " +
				"their contexts in the text; 0 gives every word the same number",
		},
		{
			Name: "positives", Modes: withMatrix, Record: true, value: &c.Positives,
			help: "context samples `N` of a word in an iteration, on average over the " +
				"words (default 5 with --iterations; else it follows from the text and --contexts: " +
				"as many as it takes to use each context of the text about 16 times, up to a limit that falls with --dim)",
			hideDefault: true,
		},
		{
			Name: "shuffle", Study: true, Modes: withMatrix, Record: true, value: &c.Shuffle,
			help: "shuffle the rows of M; =false leaves contexts in the order of the text, as they are found",
		},
		{
			Name: "shared-negatives", Modes: inIterations, Record: true, value: &c.SharedNegatives,
			help: "all words share `N` negatives in each step, which weigh as " +
				"much as --negative for each sample; with --model sg, 0 draws each word's own",
		},
	}
}

// modelSettings are those of single modes, and of what is exported.
func (c *Config) modelSettings() []Setting {
	return []Setting{
		{
			Name: "x-max", Modes: withXMax, Record: true, value: &c.XMax,
			help: "counts from `X` on weigh 1, smaller ones less (mode glove)",
		},
		{
			Name: "shift", Modes: withShift, Record: true, value: &c.Shift,
			help: "subtract the logarithm of `K` from associations, " +
				"as if a pair had K negatives (mode ppmi)",
		},
		{
			Name: "model", Modes: withModels, Record: true, value: &c.Model,
			help: "what a word is predicted from", Choices: modelChoices(c.Mode),
		},
		{
			Name: "context-weight", Negatives: true, Record: true, Resume: true, value: &c.ContextWeight,
			help: "vectors.bin has W + `X` times C: word vectors plus a " +
				"part of the context vectors; 0 leaves only word vectors",
		},
	}
}
