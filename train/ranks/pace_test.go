package ranks

import (
	"strings"
	"testing"
	"time"

	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/settings"
)

// TestPace: a run stops where hosts wait so long that one of them would be faster, and nowhere else.
func TestPace(t *testing.T) {
	for name, test := range map[string]struct {
		hosts   int
		needed  bool
		waiting time.Duration // of each second
		stops   bool
	}{
		"one host":                {1, false, 900 * time.Millisecond, false},
		"two hosts that compute":  {2, false, 400 * time.Millisecond, false},
		"two hosts that wait":     {2, false, 600 * time.Millisecond, true},
		"four hosts that compute": {4, false, 700 * time.Millisecond, false},
		"four hosts that wait":    {4, false, 800 * time.Millisecond, true},
		"hosts that are needed":   {4, true, 900 * time.Millisecond, false},
	} {
		p := pace{hosts: test.hosts, needed: test.needed}
		stopped := 0
		for call := range 10 {
			if err := p.judge(time.Second, test.waiting); err != nil {
				if !strings.Contains(err.Error(), "--force") || call != judgedCalls {
					t.Errorf("%s: call %d: %v", name, call, err)
				}
				stopped++
			}
		}
		if want := map[bool]int{true: 1}[test.stops]; stopped != want {
			t.Errorf("%s: stopped %d times, not %d", name, stopped, want)
		}
	}
}

// TestHosts: ranks count their hosts, and --force lets them go on.
func TestHosts(t *testing.T) {
	for _, force := range []bool{false, true} {
		err := cluster.Run(3, func(c cluster.Comm) error {
			g := New(c, "1")
			g.Host = []string{"b", "a", "b"}[c.Rank()]
			var config settings.Config
			config.Force = force
			if err := g.findHosts(&config); err != nil {
				return err
			}
			if g.pace.hosts != 2 || g.pace.needed != force {
				t.Errorf("%+v", g.pace)
			}
			if g.NeedAlone(1); g.pace.needed != force {
				t.Error("a host has no byte")
			}
			if g.NeedAlone(1 << 62); !g.pace.needed {
				t.Error("a host has 4 EiB")
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
