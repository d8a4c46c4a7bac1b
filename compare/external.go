package compare

import (
	"context"
	"fmt"

	"github.com/w2vcl/w2vcl/compare/experiment"
	"github.com/w2vcl/w2vcl/evaluate"
	"github.com/w2vcl/w2vcl/train/runfolder"
)

// external scores the vectors of other programs, and appends record and items of each file. Its name and
// what the user said of it are all that is known of its training.
func (e *executor) external(ctx context.Context, f *Finished) error {
	text := e.texts[e.runs[0].TextKey()]
	seeds := map[string]uint64{}
	for _, file := range e.options.External {
		e.Progress.Notef("Scoring %s, %s", file.Name, file.Vectors)
		vectors, err := runfolder.LoadTable(ctx, file.Vectors)
		if err != nil {
			return stopped(ctx, fmt.Errorf("--external %s: %w", file.Name, err))
		}
		words, dim := vectors.Len(), vectors.Dim // the judge reads them again, alone in memory
		scores, items, err := e.judge.all(ctx, file.Vectors, 0)
		if err != nil {
			return stopped(ctx, fmt.Errorf("--external %s: %w", file.Name, err))
		}
		var classes []evaluate.Result
		if e.options.Classify {
			note := func(dataset string) { e.Progress.Notef("Classes of sentences: %s", dataset) }
			if classes, err = e.judge.classify(ctx, file.Vectors, 0, note); err != nil {
				return stopped(ctx, err)
			}
		}
		seeds[file.Name]++
		summary := runfolder.Summary{
			Mode: experiment.ModeExternal, Dim: dim, Vocab: words, Epochs: file.Epochs, SecondsTrain: file.Seconds,
			Memory: runfolder.Memory{Total: file.Memory},
		}
		if file.Seconds > 0 {
			summary.WordsPerSecond = float64(text.Stats.TokensUsed) * file.Epochs / file.Seconds
		}
		f.Records = append(f.Records, &Record{
			Variant: file.Variant(), Seed: seeds[file.Name], Settings: map[string]string{}, Finished: true,
			Summary: summary, Scores: scores, Classes: classes,
		})
		f.Items = append(f.Items, items)
	}
	return nil
}
