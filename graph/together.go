package graph

// buildTogether is build for an ablation (Options.Together): step 1 comes after the gradient of step 2, which then meets the
// old contexts.
func (t *CBOW) buildTogether() {
	occur := t.steps[0].core.Sampler
	contexts := t.input(t.contexts.name, t.contexts.dense)
	words := t.made.compose(t.iteration, occur)
	h := t.windows.forward(t.iteration, words)
	gradient := t.steps[1].gradient(t.iteration, h, contexts)
	moved := t.steps[0].train(t.iteration, t.contexts, contexts, h, gradient)
	ofWords, before := t.windows.back(t.iteration, words, h, gradient, moved)
	t.made.update(t.iteration, occur, ofWords, before...)
}
