package machine

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

func TestLimitByGroups(t *testing.T) {
	const unlimitedV1 = "9223372036854771712\n"
	for _, test := range []struct {
		name             string
		files            map[string]string
		total, available int64
	}{
		{"no groups", nil, 1000, 600},
		{"version 2, in a container", map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "500\n",
			"sys/fs/cgroup/memory.current": "300\n",
			"sys/fs/cgroup/memory.stat":    "anon 100\ninactive_file 50\nactive_file 20\n",
		}, 500, 270},
		{"version 2, no limit", map[string]string{
			"proc/self/cgroup":                      "0::/user/session\n",
			"sys/fs/cgroup/user/session/memory.max": "max\n",
		}, 1000, 600},
		{"version 2, the limit of a group above", map[string]string{
			"proc/self/cgroup":                          "0::/user/session\n",
			"sys/fs/cgroup/user/session/memory.max":     "900\n",
			"sys/fs/cgroup/user/session/memory.current": "10\n",
			"sys/fs/cgroup/user/memory.max":             "700\n",
			"sys/fs/cgroup/user/memory.current":         "400\n",
		}, 700, 300},
		{"version 2, over the limit", map[string]string{
			"proc/self/cgroup":             "0::/\n",
			"sys/fs/cgroup/memory.max":     "500\n",
			"sys/fs/cgroup/memory.current": "501\n",
		}, 500, 1},
		{"version 1", map[string]string{
			"proc/self/cgroup": "9:name=systemd:/\n4:memory:/job\n3:cpuset:/\n0::/\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "800\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "400\n",
			"sys/fs/cgroup/memory/job/memory.stat":           "inactive_file 1\ntotal_inactive_file 70\ntotal_active_file 30\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes":     unlimitedV1,
		}, 800, 500},
		{"version 1, two controllers together", map[string]string{
			"proc/self/cgroup": "4:hugetlb,memory:/job\n",
			"sys/fs/cgroup/memory/job/memory.limit_in_bytes": "800\n",
			"sys/fs/cgroup/memory/job/memory.usage_in_bytes": "400\n",
		}, 800, 400},
		{"version 1, path of the host", map[string]string{
			"proc/self/cgroup":                           "4:memory:/docker/0123\n",
			"sys/fs/cgroup/memory/memory.limit_in_bytes": "400\n",
			"sys/fs/cgroup/memory/memory.usage_in_bytes": "100\n",
		}, 400, 300},
		{"limit above the machine's memory", map[string]string{
			"proc/self/cgroup":         "0::/\n",
			"sys/fs/cgroup/memory.max": "2000\n",
		}, 1000, 600},
	} {
		root := t.TempDir()
		for name, text := range test.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if total, available := limitByGroups(root, 1000, 600); total != test.total || available != test.available {
			t.Errorf("%s: %d, %d; want %d, %d", test.name, total, available, test.total, test.available)
		}
	}
}

// TestAddressSpace: a limit of the address space is one of the memory. The test runs
// itself under ulimit -v.
func TestAddressSpace(t *testing.T) {
	const child, gib = "W2VCL_TEST_ADDRESS_SPACE", 1 << 30
	if os.Getenv(child) != "" {
		limit, left, limited := AddressSpace()
		total, available := Memory()
		if limit != 3*gib || !limited || left <= 0 || left >= limit || total > limit || available <= 0 || available > left+gib/8 {
			t.Errorf("limit %d, left %d, limited %v; memory %d, available %d", limit, left, limited, total, available)
		}
		return
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("no shell")
	}
	command := exec.Command(sh, "-c", "ulimit -v "+strconv.Itoa(3*gib/1024)+` && exec "$0" -test.run '^TestAddressSpace$' -test.v`, os.Args[0])
	command.Env = append(os.Environ(), child+"=1")
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASS") {
		t.Errorf("%v\n%s", err, out)
	}
}
