package encoded

import "github.com/w2vcl/w2vcl/internal/memory"

// A Window follows one reader through the text of a file and gives the memory of the
// pages behind it back to the system, which keeps their content as long as it has nothing
// better to do with the memory. So a reader takes windowBytes of memory, however long the
// text is. It does nothing for a text in memory. A Window serves one goroutine.
type Window struct {
	text       *Text
	ids, sizes stretch
}

// windowBytes of ids are passed before a window gives memory back.
const windowBytes = 4 << 20

// A stretch is a part of an array, in bytes, that was read and not given back.
type stretch struct {
	array      []byte
	first, end int
}

// Window returns a window for one reader.
func (t *Text) Window() *Window {
	w := &Window{text: t}
	if !t.InFile() {
		return w
	}
	switch {
	case t.narrow != nil:
		w.ids.array = memory.BytesOf(t.narrow)
	case t.packed != nil:
		w.ids.array = t.packed
	default:
		w.ids.array = memory.BytesOf(t.wide)
	}
	w.sizes.array = memory.BytesOf(t.offsets)
	return w
}

// Tokens tells that the tokens first ... end-1 were read.
func (w *Window) Tokens(first, end int) {
	if w.text.InFile() {
		width := w.text.width()
		w.ids.read(w.text, width*first, width*end)
	}
}

// Sentences tells that the sentences first ... end-1 were read, bounds and tokens.
func (w *Window) Sentences(first, end int) {
	if w.text.InFile() {
		w.sizes.read(w.text, 4*first, 4*end)
		w.Tokens(w.text.Start(first), w.text.Start(end))
	}
}

// Close gives back what is left.
func (w *Window) Close() {
	w.ids.giveBack(w.text)
	w.sizes.giveBack(w.text)
}

// read adds bytes to the stretch. Those that are far from it begin a new one.
func (s *stretch) read(t *Text, first, end int) {
	if first < s.first || first > s.end+windowBytes {
		s.giveBack(t)
		s.first, s.end = first, end
		return
	}
	s.end = max(s.end, end)
	if s.end-s.first >= windowBytes {
		s.giveBack(t)
	}
}

func (s *stretch) giveBack(t *Text) {
	if s.end > s.first {
		t.release(s.array[s.first:min(s.end, len(s.array))])
	}
	s.first = s.end
}

// width returns the bytes of an id in the file.
func (t *Text) width() int {
	switch {
	case t.narrow != nil:
		return 2
	case t.packed != nil:
		return 3
	default:
		return 4
	}
}
