package dataset

import (
	"bufio"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// ReadLines reads the lines of a file, however long, but the empty ones and those
// that begin with "#" or "//". Errors name the file.
func ReadLines(path string) ([]Line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines, err := ScanLines(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return lines, nil
}

// ScanLines is [ReadLines] of a stream.
func ScanLines(r io.Reader) ([]Line, error) {
	var lines []Line
	b := bufio.NewReader(r)
	for number := 1; ; number++ {
		text, err := b.ReadString('\n')
		if err != nil && err != io.EOF {
			return nil, err
		}
		if number == 1 {
			text = strings.TrimPrefix(text, "\uFEFF")
		}
		text = strings.TrimSpace(text)
		if text != "" && !strings.HasPrefix(text, "#") && !strings.HasPrefix(text, "//") {
			lines = append(lines, Line{number, text})
		}
		if err == io.EOF {
			return lines, nil
		}
	}
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
