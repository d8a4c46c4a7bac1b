package ranks

import (
	"cmp"
	"context"
	"os"
	"slices"
	"time"

	"github.com/w2vcl/w2vcl/internal/machine"
	"github.com/w2vcl/w2vcl/internal/terminal"
	"github.com/w2vcl/w2vcl/train/cluster"
	"github.com/w2vcl/w2vcl/train/cluster/lead"
	"github.com/w2vcl/w2vcl/train/progress"
	"github.com/w2vcl/w2vcl/train/settings"
	"github.com/w2vcl/w2vcl/train/trainer"
)

// A pace tells whether several hosts train slower than one of them would alone.
type pace struct {
	hosts  int  // that the ranks are on
	needed bool // one host lacks the memory, or the user wants it anyway
	judged bool

	calls         int           // of the trainer; the first is not counted
	wall, waiting time.Duration // of the others
}

// The pace is judged after so many calls and so much time of training.
const (
	judgedCalls = 3
	judgedTime  = time.Second
)

// findHosts finds how many hosts the ranks are on, and which of the ranks of its host this is.
func (g *Group) findHosts(c *settings.Config) error {
	own, _ := os.Hostname() // without one it is as the others without
	own = cmp.Or(g.Host, own)
	all, err := cluster.Collect(g, []byte(own))
	if err != nil {
		return err
	}
	var names []string
	g.place = 0
	for rank, name := range all {
		names = append(names, string(name))
		if rank < g.Rank() && string(name) == own {
			g.place++
		}
	}
	slices.Sort(names)
	g.pace.hosts, g.pace.needed = len(slices.Compact(names)), c.Force
	return nil
}

// NeedAlone takes how many bytes the run would need as one process: several hosts that train slower than one are no reason to stop if that lacks
// the memory.
func (g *Group) NeedAlone(bytes int64) {
	total, _ := machine.Memory()
	g.pace.needed = g.pace.needed || total > 0 && bytes > total
}

// Count begins to count what this rank sends to train.
func (g *Group) Count() cluster.Comm {
	g.counted = &cluster.Counted{Comm: g.Comm}
	g.Comm = g.counted
	return g.counted
}

// Sent returns the number of ranks, and how many bytes this one has sent to others to train; zeros for a single process.
func (g *Group) Sent() (ranks int, bytes uint64) {
	if g == nil || g.counted == nil {
		return 0, 0
	}
	return g.Size(), g.counted.Sent
}

// NoteTraffic reports what this rank sent in some seconds of training.
func (g *Group) NoteTraffic(p *progress.Progress, seconds float64) {
	if ranks, bytes := g.Sent(); ranks > 0 {
		p.Notef("Traffic: rank 0 of %d sent %s in %s calls, %s/s", ranks, terminal.Bytes(int64(bytes)), terminal.Number(int64(g.counted.Calls)), terminal.Bytes(int64(float64(bytes)/seconds)))
	}
}

// A pacedTrainer stops a run that is too slow.
type pacedTrainer struct {
	*lead.Trainer
	group *Group
}

// NewTrainer returns the trainer of this rank's member of a model. It stops a run that is too slow.
func (g *Group) NewTrainer(m lead.Member) trainer.Trainer {
	return &pacedTrainer{lead.NewTrainer(&g.Group, m), g}
}

func (t *pacedTrainer) AdvanceSeries(ctx context.Context, first int, rates []float64) ([]trainer.Report, error) {
	start, waited := time.Now(), t.group.counted.Time
	reports, err := t.Trainer.AdvanceSeries(ctx, first, rates)
	if err == nil {
		err = t.group.pace.judge(time.Since(start), t.group.counted.Time-waited)
	}
	return reports, err
}

// judge takes the time of a call of the trainer, and how much of that went into the network. It returns an error once training has shown that several hosts are
// slower than one: what a host computes takes one alone so many times as long as there are hosts, and that does not wait.
func (p *pace) judge(wall, waiting time.Duration) error {
	if p.judged || p.needed || p.hosts < 2 {
		return nil
	}
	if p.calls++; p.calls > 1 { // the first has much to do that others have not
		p.wall += wall
		p.waiting += waiting
	}
	if p.calls <= judgedCalls || p.wall < judgedTime {
		return nil
	}
	p.judged = true
	if alone := (p.wall - p.waiting) * time.Duration(p.hosts); p.wall > alone {
		return terminal.Usagef("%d hosts train slower than one of them would: they wait for the network in %.0f%% of the time; take one host ('w2vcl plan --hosts %d --network X' tells beforehand), or give --force",
			p.hosts, 100*p.waiting.Seconds()/p.wall.Seconds(), p.hosts)
	}
	return nil
}
