package encoded

import "github.com/w2vcl/w2vcl/internal/memory"

// A Window follows one reader through the text of a file and gives the memory of the
// pages behind it back to the system, which keeps their content as long as it has nothing
// better to do with the memory. So a reader takes windowBytes of memory, however long the
// text is. It does nothing for a text in memory. A Window serves one goroutine.
type Window struct {
	text       *Text
	ids, sizes piece
}

// windowBytes of ids or of sentences are passed before a window gives memory back.
const windowBytes = 1 << 20

// mappedTogether is what a system maps at a time at most when one page is read, around that
// page: on Linux 64 kB, or a piece of the file that its cache holds in one piece.
const mappedTogether = 2 << 20

// A piece is a part of an array, in bytes, that was read and not given back.
type piece struct {
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
	w.ids.leave(w.text)
	w.sizes.leave(w.text)
}

// read adds bytes to the piece. Those that are far from it begin a new one.
func (s *piece) read(t *Text, first, end int) {
	if first < s.first || first > s.end+windowBytes {
		s.leave(t)
		s.first, s.end = first, end
		return
	}
	s.end = max(s.end, end)
	if s.end-s.first >= windowBytes {
		s.giveBack(t, s.end) // what is mapped ahead will be read
	}
}

// leave gives the piece back when its reader goes elsewhere, with what is mapped ahead.
func (s *piece) leave(t *Text) { s.giveBack(t, s.end+mappedTogether) }

// giveBack gives the piece back, and what stands before it: another reader may have brought
// that back, or this one when another gave its pages away.
func (s *piece) giveBack(t *Text, end int) {
	if s.end > s.first && t.InFile() {
		t.release(s.array[max(s.first-mappedTogether, 0):min(end, len(s.array))])
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
