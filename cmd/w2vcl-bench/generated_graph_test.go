package main

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
)

func edgesOf(t *testing.T, g generatedGraph, threads int) (edges [][2]int64) {
	t.Helper()
	var text bytes.Buffer
	if err := g.write(t.Context(), &text, threads, nil); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(text.String()) {
		var e [2]int64
		if _, err := fmt.Sscan(line, &e[0], &e[1]); err != nil || e[0] == e[1] || max(e[0], e[1]) >= g.nodes {
			t.Fatalf("edge %q: %v", line, err)
		}
		edges = append(edges, e)
	}
	if int64(len(edges)) != g.edges {
		t.Fatalf("%d edges, want %d", len(edges), g.edges)
	}
	return edges
}

func TestGeneratedBlocks(t *testing.T) {
	g := generatedGraph{nodes: 1003, edges: 50_000, blocks: 10, seed: 3}
	edges := edgesOf(t, g, 1)
	if fmt.Sprint(edges) != fmt.Sprint(edgesOf(t, g, 3)) {
		t.Error("threads change the graph")
	}
	mixed, first, half := 0.0, 0.0, 0.0
	for _, e := range edges {
		if e[0]%10 != e[1]%10 {
			mixed++
		}
		for _, v := range e {
			if v < 10 { // rank 0 of its block
				first++
			}
			if v < 502 {
				half++
			}
		}
	}
	if fraction := mixed / float64(g.edges); math.Abs(fraction-0.2) > 0.01 {
		t.Errorf("%.3f of the edges lead to other blocks", fraction)
	}
	// Of n ranks the first r have sqrt(r/n) of the ends; edges from a node to itself are drawn again.
	if ends := 2 * float64(g.edges); math.Abs(first/ends-math.Sqrt(1/100.3)) > 0.01 || math.Abs(half/ends-math.Sqrt(0.5)) > 0.01 {
		t.Errorf("%.3f of the ends are nodes of rank 0, %.3f of the first half", first/ends, half/ends)
	}
	var labels bytes.Buffer
	if err := g.writeLabels(&labels); err != nil || !strings.HasPrefix(labels.String(), "0 0\n1 1\n") || strings.Count(labels.String(), "\n") != 1003 || !strings.HasSuffix(labels.String(), "\n1002 2\n") {
		t.Errorf("labels %.30q, %v", labels.String(), err)
	}
}

func TestGeneratedRecursive(t *testing.T) {
	g := generatedGraph{nodes: 1 << 10, edges: 50_000, seed: 3}
	edges := edgesOf(t, g, 2)
	if other := g; fmt.Sprint(edges) != fmt.Sprint(edgesOf(t, other, 1)) {
		t.Error("threads change the graph")
	}
	var quadrants [2][2]float64
	for _, e := range edges {
		quadrants[e[0]>>9][e[1]>>9]++
	}
	for i, want := range []float64{.57, .19, .19, .05} {
		if got := quadrants[i/2][i%2] / float64(g.edges); math.Abs(got-want) > 0.01 {
			t.Errorf("quadrant %d has %.3f of the edges, want %v", i, got, want)
		}
	}
	g.nodes = 700 // no power of two
	edgesOf(t, g, 2)
}

func TestGeneratedGraphErrors(t *testing.T) {
	for _, g := range []generatedGraph{
		{nodes: 1, edges: 1}, {nodes: 1 << 32, edges: 1}, {nodes: 5, edges: 0}, {nodes: 5, edges: 1, blocks: 3},
		{nodes: 5, edges: 1, blocks: -1}, {nodes: 5, edges: 1, blocks: 1},
	} {
		if g.check() == nil {
			t.Errorf("%+v: no error", g)
		}
	}
}
