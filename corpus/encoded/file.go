package encoded

// A File is a text in a file.
type File struct{ text Text }

// Text returns the text.
func (f *File) Text() *Text { return &f.text }
