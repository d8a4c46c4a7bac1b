package settings

// encoderSettings choose an encoder and its symbols.
func (c *Config) encoderSettings() []Setting {
	return []Setting{
		{
			Name: "subword", Modes: withSubwords, Record: true, value: &c.Subword,
			help: "compose word vectors from spelling, also those of words that the text lacks", Choices: subwordChoices(),
		},
		{
			Name: "compose", Modes: withSubwords, Subword: encoders(), Record: true, value: &c.Compose,
			help: "what is trained as the vector of a word of the text", Choices: composeChoices,
		},
		{
			Name: "unseen", Text: true, Record: true, Resume: true, value: &c.Unseen,
			help: "where the vectors of words that the text lacks come from", Choices: unseenChoices,
		},
		{
			Name: "gram", Study: true, Modes: withNetworks, Record: true, value: &c.Gram,
			help: "characters `N` of a symbol: 1 reads characters, more overlapping n-grams of them, " +
				"1-5 n-grams of each of these lengths",
		},
		{
			Name: "char-dim", Modes: withNetworks, Record: true, value: &c.CharDim,
			help: "values `E` of a symbol's embedding",
		},
	}
}

// cnnSettings are the shape of a convolutional encoder.
func (c *Config) cnnSettings() []Setting {
	return []Setting{
		{
			Name: "widths", Modes: withNetworks, Record: true, value: &c.Widths,
			help: "how many symbols filters span: a `LIST` with commas",
		},
		{
			Name: "filters", Modes: withNetworks, Record: true, value: &c.Filters,
			help: "filters `N` of each width, or a number for each, with commas",
		},
		{
			Name: "activation", Study: true, Modes: withNetworks, Record: true, value: &c.Activation,
			help: "function applied to the values of a convolution", Choices: activationChoices,
		},
		{
			Name: "standardize", Study: true, Modes: withNetworks, Record: true, value: &c.Standardize,
			help: "give features mean 0 and variance 1 over the " +
				"vocabulary; =false leaves them as they are",
		},
	}
}

// pieceSettings say which parts of a word encoders read, and how fast they learn.
func (c *Config) pieceSettings() []Setting {
	return []Setting{
		{
			Name: "max-chars", Modes: withNetworks, Record: true, value: &c.MaxChars,
			help: "read at most `N` characters of a word",
		},
		{
			Name: "min-ngram", Aliases: []string{"minn", "min-n"},
			Modes: withSubwords, Subword: ngramOnly, Record: true, value: &c.MinGram,
			help: "characters `N` of the shortest n-grams (ngram)",
		},
		{
			Name: "max-ngram", Aliases: []string{"maxn", "max-n"},
			Modes: withSubwords, Subword: ngramOnly, Record: true, value: &c.MaxGram,
			help: "characters `N` of the longest n-grams (ngram)",
		},
		{
			Name: "buckets", Aliases: []string{"bucket"},
			Modes: withSubwords, Subword: append(networks("buckets"), SubwordNGram), Record: true, value: &c.Buckets,
			help: "hash n-grams to `N` vectors (ngram); hash only the n-grams of a length that has more than N (cnn); " +
				"vectors that no word needs take no memory",
		},
		{
			Name: "subword-lr", Modes: withSubwords, Subword: encoders(), Record: true, value: &c.SubwordLR,
			help: "learning rate of the encoder: `X` times --lr " +
				"(default depends on the mode and on --subword)",
			hideDefault: true,
		},
	}
}
