//go:build gpu

package nccl

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// fake is a library whose identifier fails.
const fake = `
int ncclGetVersion(int *v) { return *v = 22304, 0; }
const char *ncclGetErrorString(int result) { return "unhandled system error"; }
const char *ncclGetLastError(void *comm) { return "no network"; }
int ncclGetUniqueId(void *id) { return 2; }
int ncclCommInitRank(void) { return 0; }
int ncclCommDestroy(void) { return 0; }
int ncclCommAbort(void) { return 0; }
int ncclGroupStart(void) { return 0; }
int ncclGroupEnd(void) { return 0; }
int ncclSend(void) { return 0; }
int ncclRecv(void) { return 0; }
`

// built compiles a library, or skips the test.
func built(t *testing.T, source string) string {
	t.Helper()
	dir := t.TempDir()
	file, library := filepath.Join(dir, "fake.c"), filepath.Join(dir, "libfake.so")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := exec.LookPath("cc"); err != nil {
		t.Skip(err)
	}
	if out, err := exec.Command("cc", "-shared", "-fPIC", "-o", library, file).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return library
}

func TestLoad(t *testing.T) {
	whole := built(t, fake+"int ncclAllGather(void) { return 0; }\n")
	for name, test := range map[string]struct {
		files []string
		want  string // of the error
	}{
		"missing":    {[]string{"libnone.so.1", "libnone.so"}, "NCCL was not found; install it (libnccl2), or name the library with W2VCL_NCCL: libnone.so.1: "},
		"incomplete": {[]string{built(t, fake)}, "it has no ncclAllGather"},
		"whole":      {[]string{"libnone.so", whole}, ""},
	} {
		library, err := loadAny(test.files...)
		if test.want != "" {
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%s: error %v, want %q", name, err, test.want)
			}
			continue
		}
		if err != nil || library != (Library{File: whole, Version: "2.23.4"}) {
			t.Errorf("%s: %+v, error %v", name, library, err)
		}
	}
}

// An error has the library's words.
func TestError(t *testing.T) {
	t.Setenv(Variable, built(t, fake+"int ncclAllGather(void) { return 0; }\n"))
	if _, err := NewID(); err == nil || err.Error() != "ncclGetUniqueId: unhandled system error (no network)" {
		t.Errorf("error %v", err)
	}
	if _, err := Join(nil, make([]byte, 3), 0, 2); err == nil || !strings.Contains(err.Error(), "3 bytes") {
		t.Errorf("error %v", err)
	}
}
