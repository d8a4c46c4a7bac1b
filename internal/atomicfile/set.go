package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// A set holds files that get their names together.
type set struct {
	sync.Mutex
	drafts []*draft
	alone  bool // the caller has the folder to itself; its own lock would make lockFolder wait
}

// A draft is a temporary file that will get the name path.
type draft struct {
	file  *os.File
	path  string
	aside string // where the old file at path is while others are renamed; "": there is none
	ready bool   // renamed to path
}

// draft writes a regular file beside path.
func (s *set) draft(path string, write func(f *os.File) error) error {
	path, err := Resolve(path)
	if err != nil {
		return err
	}
	f, err := begin(filepath.Split(path))
	if err != nil {
		return err
	}
	s.Lock()
	s.drafts = append(s.drafts, &draft{file: f, path: path})
	s.Unlock()
	if err := write(f); err != nil {
		return err
	}
	// CreateTemp makes the file private; other users may read results.
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Sync(); err != nil || canHold {
		return err
	}
	return f.Close()
}

// publish gives all drafts their names.
func (s *set) publish() error {
	if len(s.drafts) == 0 {
		return nil
	}
	unfinished.Lock()
	defer unfinished.Unlock()
	if unfinished.abandoned {
		return errAbandoned
	}
	if len(s.drafts) > 1 { // a rename replaces only one file at once
		if !s.alone {
			defer lockFolder(filepath.Dir(s.drafts[0].path))()
		}
		if err := s.moveAway(); err != nil {
			return errors.Join(err, s.restore())
		}
	}
	for _, d := range s.drafts {
		if err := os.Rename(d.file.Name(), d.path); err != nil {
			return errors.Join(fmt.Errorf("cannot write %s: %w", d.path, err), s.restore())
		}
		d.ready = true
	}
	for _, d := range s.drafts {
		delete(unfinished.names, d.file.Name())
		if d.aside != "" {
			os.Remove(d.aside) // or the next call does
		}
		syncFolder(filepath.Dir(d.path))
	}
	return nil
}

// moveAway moves away the files that the drafts replace.
func (s *set) moveAway() error {
	for _, d := range s.drafts {
		info, err := os.Lstat(d.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		aside := d.file.Name() + "0"
		if err == nil && info.IsDir() {
			err = errors.New("it is a folder")
		}
		if err == nil {
			err = os.Rename(d.path, aside)
		}
		if err != nil {
			return fmt.Errorf("cannot replace %s: %w", d.path, err)
		}
		d.aside = aside
	}
	return nil
}

// restore puts back the files that were moved away, if all drafts can leave their places.
func (s *set) restore() (err error) {
	for _, d := range s.drafts {
		if d.ready {
			err = errors.Join(err, os.Rename(d.path, d.file.Name()))
			d.ready = false
		}
	}
	for _, d := range s.drafts {
		if err == nil && d.aside != "" {
			err = os.Rename(d.aside, d.path)
		}
	}
	return err
}

// discard closes the drafts, and removes those that did not get their names.
func (s *set) discard() {
	for _, d := range s.drafts {
		d.file.Close() // it is synced or useless
		if !d.ready {
			_ = end(d.file) // the error that led here is the one to tell
		}
	}
}
