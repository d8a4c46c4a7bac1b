package train

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"

	"github.com/w2vcl/w2vcl/embedding"
	"github.com/w2vcl/w2vcl/graph"
	"github.com/w2vcl/w2vcl/internal/atomicfile"
	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/parallel"
	"github.com/w2vcl/w2vcl/subword"
	"github.com/w2vcl/w2vcl/train/runfolder"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// absolute makes a recorded path independent of the working folder.
func absolute(path string) string {
	if abs, err := filepath.Abs(path); err == nil && path != "" && path != "-" {
		return abs
	}
	return path
}

// recorded returns the settings that config.toml and checkpoints have, with paths that hold from any folder.
func (j *job) recorded() *settings.Config {
	c := j.config
	c.Matrix, c.Init = absolute(c.Matrix), absolute(c.Init)
	if beside := j.options.beside; beside != nil {
		c.Threads = beside.threads // 'w2vcl resume' trains it alone
	}
	if j.options.Source == nil { // otherwise Corpus is a name, not a path
		c.Corpus, c.Graph = absolute(c.Corpus), absolute(c.Graph)
	}
	return &c
}

func (j *job) writeConfig(folder *runfolder.Folder) error {
	config, err := j.recorded().TOML()
	if err != nil {
		return err
	}
	return folder.Write(runfolder.ConfigFile, func(w io.Writer) error {
		_, err := w.Write(config)
		return err
	})
}

// writeDOT writes the Gorgonia graph that is trained, if --graph-dot asks for it.
func (j *job) writeDOT() error {
	if j.config.GraphDOT == "" {
		return nil
	}
	dot := trainer.DOT(j.trainer)
	if dot == "" {
		return fmt.Errorf("mode %s has no Gorgonia graph to write: leave out --graph-dot", j.config.Mode)
	}
	return atomicfile.Write(j.config.GraphDOT, func(w io.Writer) error {
		_, err := io.WriteString(w, dot)
		return err
	})
}

func (j *job) writeVocabulary(folder *runfolder.Folder) error {
	return folder.Write(runfolder.VocabularyFile, j.text.saved.WriteTSV)
}

// export writes the vectors to use, their encoder and the context table, or none
// of them.
func (j *job) export(folder *runfolder.Folder) error {
	j.text.corpus.GiveBack()
	memory.Collect() // the garbage of training
	if err := trainer.Pull(j.trainer, false); err != nil {
		return err
	}
	err := j.average()
	if err == nil {
		err = trainer.Refresh(j.trainer)
	}
	if err != nil {
		return fmt.Errorf("cannot compose the vectors: %w", err)
	}
	memory.Collect() // the garbage of composing; writing can have it
	if err = j.exportTables(folder); err != nil {
		j.undoAverage()
		// A checkpoint needs the space. Without a summary nobody takes one of the
		// two for a result.
		_ = folder.RemoveVectors() // the error that led here is the one to tell
	}
	return err
}

// exportTables writes the context table, the vectors to use and their encoder, and then a fit, which needs all vectors at once and
// takes long: who kills it keeps the vectors.
func (j *job) exportTables(folder *runfolder.Folder) error {
	// An interrupted run may have left older files: a kill must not leave some of them beside new ones.
	if err := folder.RemoveVectors(); err != nil {
		return err
	}
	words, contexts := j.trainer.Tables()
	vectors, added, untouched := words, contexts, j.start.kept
	var center []float32
	if j.composes() {
		vectors, center = j.config.Exported(words, contexts)
		center = j.keepCenter(vectors, center)
		added = nil
		for i, vector := range untouched {
			copy(vectors[i*j.config.Dim:], vector)
		}
	}
	vocabulary, encoder := j.text.vocabulary.Words, j.encoderFile(vectors, center)
	files := append(j.positionsFile(),
		j.tableFile(runfolder.ContextFile, vocabulary, j.rows(contexts, nil, nil)),
		j.tableFile(runfolder.VectorsFile, vocabulary, j.rows(vectors, added, untouched)))
	if j.encoder != nil && j.unseen == nil {
		files = append(files, encoder)
	}
	err := folder.WriteAll(files...)
	if errors.Is(err, embedding.ErrNotFinite) {
		return fmt.Errorf("%w: the trained vectors are not sound: %w", ErrDiverged, err)
	}
	if err != nil || j.unseen == nil {
		return err
	}
	if err := j.exportFit(folder, vectors); err != nil || j.encoder == nil {
		return err
	}
	return folder.WriteAll(encoder) // now: a run that was killed before must not have it compose what the fit should
}

// rows returns the rows of a table, with contexts added to them as --context-weight says, or nil. Those that training left untouched
// are as they were.
func (j *job) rows(words, contexts []float32, untouched [][]float32) func(i int, buffer []float32) []float32 {
	n := j.config.Dim
	return func(i int, buffer []float32) []float32 {
		row := words[i*n:][:n]
		switch {
		case untouched != nil && untouched[i] != nil:
			return untouched[i]
		case contexts == nil:
			return row
		}
		return j.config.ExportedRow(buffer, row, contexts[i*n:][:n])
	}
}

// positionsFile is the file of the position weights, if there are some, each with its offset as its word.
func (j *job) positionsFile() []atomicfile.File {
	var offsets []string
	for k := -j.config.Window; k <= j.config.Window; k++ {
		if k != 0 {
			offsets = append(offsets, strconv.Itoa(k))
		}
	}
	for _, t := range j.trainer.State() {
		if t.Name == graph.PositionsTensor {
			return []atomicfile.File{j.tableFile(runfolder.PositionsFile, offsets, j.rows(t.Data, nil, nil))}
		}
	}
	return nil
}

// tableFile is a file with a vector for each word.
func (j *job) tableFile(name string, words []string, vector func(i int, buffer []float32) []float32) atomicfile.File {
	rows := embedding.Rows{Words: words, Dim: j.config.Dim, Vector: vector}
	return atomicfile.File{Path: name, Write: func(w io.Writer) error { return rows.WriteBinary(w, j.config.ThreadCount()) }}
}

func (j *job) exportFit(folder *runfolder.Folder, vectors []float32) error {
	once, err := j.unseen.Fit(vectors, j.text.saved.Counts, unseenRidge, j.config.ThreadCount())
	if err != nil {
		return err
	}
	offset := func() ([]float32, error) { return once, nil }
	return folder.Write(runfolder.FitFile, func(w io.Writer) error { return subword.Write(w, j.unseen, offset, nil) })
}

// encoderFile is the file of the encoder, with the offset that fits composed vectors to the given ones.
func (j *job) encoderFile(vectors, center []float32) atomicfile.File {
	return atomicfile.File{Path: runfolder.EncoderFile, Write: func(w io.Writer) error {
		var err error
		composed := parallel.Begin(func() (offset []float32) {
			if kept := j.start.Offset; kept != nil && j.config.Freezes(settings.FreezeParts) {
				return kept
			}
			offset, err = subword.Offset(j.encoder, j.text.vocabulary.Words, j.offsetCounts(), vectors)
			return offset
		})
		defer composed() // also if Write fails before it asks
		return subword.Write(w, j.encoder, func() ([]float32, error) {
			offset := composed()
			return offset, err
		}, center)
	}}
}

// diskSpace returns the size of the files of the run.
func (j *job) diskSpace() runfolder.DiskSpace {
	const overhead = 64 << 10 // the small files, and headers
	words, v := int64(j.text.vocabulary.WordBytes()), int64(j.text.vocabulary.Len())
	table := words + v*int64(4*j.config.Dim+2)
	space := runfolder.DiskSpace{Vectors: 2*table + overhead + int64(j.config.Positions())*int64(4*j.config.Dim), Checkpoint: overhead}
	if j.encoder != nil {
		space.Vectors += j.encoder.FileBytes()
	}
	if j.unseen != nil {
		space.Vectors += j.unseen.FileBytes()
	}
	if j.savesComposed() {
		space.Checkpoint += 4 * v * int64(j.config.Dim)
	}
	for _, t := range j.trainer.State() {
		space.Checkpoint += 4 * int64(len(t.Data))
	}
	return space
}
