package dataset

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/w2vcl/w2vcl/internal/memory"
	"github.com/w2vcl/w2vcl/internal/textfile"
)

// A Line of a data set, without the spaces around it.
type Line struct {
	Number int // from 1
	Text   string
}

func texts(lines []Line) []string {
	t := make([]string, len(lines))
	for i, l := range lines {
		t[i] = l.Text
	}
	return t
}

// ReadLines reads the lines of a file but the empty ones and those that begin with
// "#" or "//". Errors name the file.
func ReadLines(ctx context.Context, path string) ([]Line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := ScanLines(memory.NewReader(ctx, f))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// ScanLines is [ReadLines] of a stream.
func ScanLines(r io.Reader) ([]Line, error) {
	var lines []Line
	in := textfile.NewLines(r)
	for in.Next() {
		text := textfile.ValidUTF8(strings.TrimSpace(in.Text()))
		if text != "" && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "//") {
			var err error
			if lines, err = memory.Append(lines, Line{in.Number, text}); err != nil {
				return nil, err
			}
		}
	}
	return lines, in.Err()
}

// largest is the size in bytes of the largest file that can be a data set.
const largest = 256 << 20

// readFile returns the content of a data set's file. Errors name it.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	done, err := memory.Room(2 * min(info.Size(), largest)) // and what is made of it
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	defer done()
	content, err := io.ReadAll(io.LimitReader(f, largest+1))
	if err == nil && len(content) > largest {
		err = fmt.Errorf("%s: it has more than %d bytes, so it is not a data set", path, largest)
	}
	return content, err
}

// firstLines returns the lines at the beginning of a file, none if the file is no
// text.
func firstLines(path string) ([]string, error) {
	const most = 1 << 14
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	start := make([]byte, most)
	n, err := io.ReadFull(f, start)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, err
	}
	text := string(start[:n])
	if n == most { // the last line may be cut
		text = text[:strings.LastIndexByte(text, '\n')+1]
	}
	if strings.ContainsRune(text, 0) {
		return nil, nil
	}
	lines, err := ScanLines(strings.NewReader(text))
	return texts(lines), err
}

// Files lists the files in a folder and below, in the order of their paths, or the
// one file that path is. Hidden files are left out. root is path without symbolic
// links.
func Files(path string) (root string, files []string, err error) {
	if root, err = filepath.EvalSymlinks(path); err != nil {
		return "", nil, err
	}
	err = filepath.WalkDir(root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if strings.HasPrefix(entry.Name(), ".") && file != root {
			if entry.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		if info, err := os.Stat(file); err != nil || !info.Mode().IsRegular() {
			return err
		}
		files = append(files, file)
		return nil
	})
	return root, files, err
}
