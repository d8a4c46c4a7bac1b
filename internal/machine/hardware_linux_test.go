package machine

import (
	"os"
	"path/filepath"
	"testing"
)

func TestCacheSize(t *testing.T) {
	for text, want := range map[string]int64{
		"32K": 32 << 10, "36608K": 36608 << 10, "2M": 2 << 20, "1G": 1 << 30, "512": 512,
		"": 0, "K": 0, "-1K": 0, "large": 0,
	} {
		if got := cacheSize(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

// TestCaches: two sockets, each with one last-level cache that two processors share.
func TestCaches(t *testing.T) {
	dir := t.TempDir()
	write := func(processor, index, level, kind, size, shared string) {
		folder := filepath.Join(dir, processor, "cache", index)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"level": level, "type": kind, "size": size, "shared_cpu_list": shared} {
			if err := os.WriteFile(filepath.Join(folder, name), []byte(text+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, processor := range []string{"cpu0", "cpu1", "cpu2", "cpu3"} {
		socket := []string{"0-1", "2-3"}[i/2]
		write(processor, "index0", "1", "Data", "32K", processor)
		write(processor, "index1", "1", "Instruction", "32K", processor)
		write(processor, "index2", "2", "Unified", "1024K", processor)
		write(processor, "index3", "3", "Unified", "16M", socket)
	}
	if l2, last := caches(dir); l2 != 1<<20 || last != 32<<20 {
		t.Errorf("L2 %d, last level %d", l2, last)
	}
	if l2, last := caches(t.TempDir()); l2 != 0 || last != 0 {
		t.Errorf("nothing there: L2 %d, last level %d", l2, last)
	}
}

func TestModelName(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cpuinfo")
	if err := os.WriteFile(file, []byte("processor\t: 0\nmodel name\t: Some CPU @ 2.50GHz\nmodel name\t: other\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := modelName(file); got != "Some CPU @ 2.50GHz" {
		t.Errorf("%q", got)
	}
	if got := modelName(file + "x"); got != "" {
		t.Errorf("%q", got)
	}
}
