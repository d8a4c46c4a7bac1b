package runfolder

import (
	"fmt"
	"io"
	"os"

	"github.com/w2vcl/w2vcl/internal/atomicfile"
)

// ReplacesFile is in OUT.partial of a run that was started with --force and --matrix,
// until training begins. It holds the path of the matrix file, which a resumed run may
// replace as the first one might.
const ReplacesFile = "replaces.txt"

// AllowReplacing records that the run may replace a matrix file, also when it is resumed.
func (f *Folder) AllowReplacing(path string) error {
	return atomicfile.Write(f.Path(ReplacesFile), func(w io.Writer) error {
		_, err := fmt.Fprintln(w, path)
		return err
	})
}

// Replaces reports whether AllowReplacing was called with the path, in this process or
// one before.
func (f *Folder) Replaces(path string) bool {
	text, err := os.ReadFile(f.Path(ReplacesFile))
	return err == nil && path != "" && string(text) == path+"\n"
}
