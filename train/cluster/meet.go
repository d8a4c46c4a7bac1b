package cluster

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// This file is about how the ranks of [TCP] meet: all know where rank 0 listens, and rank 0 tells each where the others do.

// TCPOptions say what ranks must have in common, and what to do with news.
type TCPOptions struct {
	Version string                           // the same on all ranks
	Notef   func(format string, args ...any) // takes news for the user
	End     func(code int, why string)       // ends the process with this exit code: a rank is lost or aborts
}

// impatience is after how long a rank that waits for others says so.
const impatience = 10 * time.Second

// A hello is the first that ranks tell each other, and what rank 0 answers when all have come.
type hello struct {
	Run     string // a secret of the ranks that have met; "": they are to meet
	Version string
	Rank    int
	Size    int
	Port    int      // where it listens
	Hosts   []string // from rank 0: where each rank listens, without a host for that of rank 0

	conn net.Conn // that it came by
}

// receive reads an answer.
func (h *hello) receive(conn net.Conn) error {
	f, err := read(conn, 1<<20, nil)
	if err != nil {
		return err
	}
	if f.call == callEnd {
		var e ending
		err = json.Unmarshal(f.data, &e)
		return cmp.Or(err, error(e))
	}
	return json.Unmarshal(f.data, h)
}

// StartTCP joins the processes of the launch, for which it waits until the context ends.
func StartTCP(ctx context.Context, l Launch, o TCPOptions) (*TCP, error) {
	t := &TCP{mesh: newMesh(l.Rank, l.Size), launch: l, options: o}
	t.tell = t.last
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	port := 0 // any
	if l.Rank == 0 {
		port = l.port()
	}
	c := net.ListenConfig{KeepAliveConfig: alive}
	listener, err := c.Listen(ctx, "tcp", ":"+strconv.Itoa(port))
	if err != nil {
		return nil, fmt.Errorf("rank %d cannot wait for the others: %w; another rank %d or job may be on this host", l.Rank, err, l.Rank)
	}
	context.AfterFunc(ctx, func() { _ = listener.Close() })
	came := make(chan hello)
	go accept(ctx, listener, came)
	if err := t.meet(ctx, listener.Addr().(*net.TCPAddr).Port, came); err != nil {
		if t.stop(err) {
			t.leave(ending{err.Error(), 1})
		}
		_ = t.Close() // err says more
		return nil, err
	}
	return t, nil
}

// alive finds a quiet connection dead within half a minute if the other host is gone.
var alive = net.KeepAliveConfig{Enable: true, Idle: 10 * time.Second, Interval: 5 * time.Second, Count: 4}

// port is where rank 0 listens. At MASTER_PORT itself torchrun and Ray do.
func (l Launch) port() int { return l.Port + 1 }

// accept hears who connects.
func accept(ctx context.Context, l net.Listener, came chan<- hello) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return // it was closed
		}
		go func() {
			v := hello{conn: conn}
			_ = conn.SetDeadline(time.Now().Add(impatience))
			if v.receive(conn) == nil && conn.SetDeadline(time.Time{}) == nil {
				select {
				case came <- v:
					return
				case <-ctx.Done():
				}
			}
			_ = conn.Close()
		}()
	}
}

// meet connects this rank, which listens at a port, to all others: rank 0 and those before it by itself.
func (t *TCP) meet(ctx context.Context, port int, came <-chan hello) error {
	own := hello{Version: t.options.Version, Rank: t.rank, Size: t.size, Port: port}
	if t.rank == 0 {
		own.Hosts = make([]string, t.size)
		if err := t.wait(ctx, &own, came); err != nil {
			return err
		}
		own.Run = rand.Text()
		t.mutex.Lock()
		defer t.mutex.Unlock()
		for _, c := range t.conns {
			if err := writeJSON(c, callHello, own); err != nil {
				return err
			}
		}
		return nil
	}
	met, err := t.visit(ctx, own)
	if err != nil {
		return err
	}
	own.Run, own.Hosts = met.Run, met.Hosts
	for r := 1; r < t.rank; r++ {
		conn, err := t.dial(ctx, met.Hosts[r], own)
		if err != nil {
			return fmt.Errorf("rank %d cannot connect to rank %d: %w; all ports must be open between the hosts", t.rank, r, err)
		}
		t.join(r, conn)
	}
	return t.wait(ctx, &own, came)
}

// wait waits for the ranks after this one, and notes where they listen.
func (t *TCP) wait(ctx context.Context, own *hello, came <-chan hello) error {
	for missing := t.missing(); missing != ""; missing = t.missing() {
		select {
		case v := <-came:
			if v.Run != own.Run {
				_ = v.conn.Close() // of another job
				continue
			}
			if why := t.refuse(v); why != "" {
				return errors.Join(errors.New(why), writeJSON(v.conn, callEnd, ending{why, 1}), v.conn.Close())
			}
			t.join(v.Rank, v.conn)
			host, _, _ := net.SplitHostPort(v.conn.RemoteAddr().String())
			if net.ParseIP(host).IsLoopback() { // others may be on another host
				host = ""
			}
			own.Hosts[v.Rank] = net.JoinHostPort(host, strconv.Itoa(v.Port))
		case <-time.After(impatience):
			t.options.Notef("Waiting for rank %s of %d", missing, t.size)
		case <-t.ended:
			return t.why
		case <-ctx.Done():
			return fmt.Errorf("rank %s of %d did not come: %w", missing, t.size, context.Cause(ctx))
		}
	}
	return nil
}

// missing names the ranks after this one that have not come.
func (t *TCP) missing() string {
	var names []string
	for r := t.rank + 1; r < t.size; r++ {
		if t.links[r] == nil {
			names = append(names, strconv.Itoa(r))
		}
	}
	return strings.Join(names, ", ")
}

// refuse says why a process cannot be a rank; "": it can.
func (t *TCP) refuse(v hello) string {
	from := v.conn.RemoteAddr()
	switch {
	case v.Version != t.options.Version:
		return fmt.Sprintf("rank %d (%s): the version of w2vcl is %s, but on rank %d it is %s", v.Rank, from, v.Version, t.rank, t.options.Version)
	case v.Size != t.size:
		return fmt.Sprintf("rank %d (%s) is one of %d ranks by its WORLD_SIZE, but rank %d is one of %d", v.Rank, from, v.Size, t.rank, t.size)
	case v.Rank <= t.rank || v.Rank >= t.size:
		return fmt.Sprintf("there is no rank %d (%s) of %d", v.Rank, from, t.size)
	case t.links[v.Rank] != nil:
		return fmt.Sprintf("two processes have RANK %d; the second is %s", v.Rank, from)
	}
	return ""
}

// dial connects to what listens at an address, and says hello.
func (t *TCP) dial(ctx context.Context, address string, own hello) (net.Conn, error) {
	if strings.HasPrefix(address, ":") {
		address = net.JoinHostPort(t.launch.Address, address[1:])
	}
	dialer := net.Dialer{Timeout: impatience, KeepAliveConfig: alive}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	if err := writeJSON(conn, callHello, own); err != nil {
		_ = conn.Close() // err says more
		return nil, err
	}
	return conn, nil
}

// visit finds rank 0, and waits until all have come there.
func (t *TCP) visit(ctx context.Context, own hello) (met hello, err error) {
	port := strconv.Itoa(t.launch.port())
	note := time.AfterFunc(impatience, func() {
		t.options.Notef("Waiting for rank 0 at %s, and for all others to meet there", net.JoinHostPort(t.launch.Address, port))
	})
	defer note.Stop()
	for {
		conn, err := t.dial(ctx, ":"+port, own)
		if err == nil {
			stop := context.AfterFunc(ctx, func() { _ = conn.SetReadDeadline(time.Now()) })
			if err = met.receive(conn); err != nil {
				_ = conn.Close() // err says more
			}
			stop()
		}
		switch {
		case err == nil:
			t.join(0, conn)
			return met, nil
		case errors.As(err, new(ending)):
			return met, err
		case ctx.Err() != nil:
			return met, fmt.Errorf("waiting for rank 0 and others: %w: %w", context.Cause(ctx), err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
