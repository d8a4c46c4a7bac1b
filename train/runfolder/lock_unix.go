//go:build linux || darwin

package runfolder

import (
	"errors"
	"io/fs"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// lockFolder claims a folder for this process. The lock is the system's and
// goes with the process, however that ends, or with the file that is returned.
// The error is errLocked if another process has it.
func lockFolder(path string) (*os.File, error) {
	folder, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	err = unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	for try := 0; try < 10 && errors.Is(err, unix.EWOULDBLOCK); try++ { // perhaps isLocked is looking
		time.Sleep(10 * time.Millisecond)
		err = unix.Flock(int(folder.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	}
	if err != nil {
		folder.Close()
		switch {
		case errors.Is(err, unix.EWOULDBLOCK):
			return nil, errLocked
		case errors.Is(err, unix.ENOTSUP), errors.Is(err, unix.ENOLCK): // some network file systems
			return nil, nil
		}
		return nil, &fs.PathError{Op: "lock", Path: path, Err: err}
	}
	// Between the two calls the one who had it may have renamed it.
	ours, err := folder.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Stat(path); err == nil && !os.SameFile(ours, there) {
			err = errLocked
		}
	}
	if err != nil {
		folder.Close()
		return nil, err
	}
	return folder, nil
}

func isLocked(path string) bool {
	folder, err := os.Open(path)
	if err != nil {
		return false
	}
	defer folder.Close() // which ends the lock
	return errors.Is(unix.Flock(int(folder.Fd()), unix.LOCK_SH|unix.LOCK_NB), unix.EWOULDBLOCK)
}
