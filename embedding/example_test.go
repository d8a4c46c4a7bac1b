package embedding_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/w2vcl/w2vcl/embedding"
)

func Example() {
	dir, err := os.MkdirTemp("", "vectors")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)

	table, err := embedding.NewTable([]string{"king", "queen", "apple"}, 2, []float32{1, 0.1, 1, 0.3, -0.2, 1})
	if err != nil {
		panic(err)
	}
	path := filepath.Join(dir, "vectors.safetensors")
	if err := embedding.Save(path, table, ""); err != nil {
		panic(err)
	}
	if table, err = embedding.Load(context.Background(), path); err != nil {
		panic(err)
	}
	king, _ := table.Index("king")
	neighbors, err := table.NearestWords(context.Background(), []int{king}, 2)
	if err != nil {
		panic(err)
	}
	for _, n := range neighbors[0] {
		fmt.Printf("%s %.2f\n", n.Word, n.Cosine)
	}
	// Output:
	// queen 0.98
	// apple -0.10
}
