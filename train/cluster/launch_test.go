package cluster_test

import (
	"testing"

	"github.com/w2vcl/w2vcl/train/cluster"
)

func TestLaunched(t *testing.T) {
	for _, name := range []string{"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MV2_COMM_WORLD_SIZE", "SLURM_STEP_NUM_TASKS", "RANK", "WORLD_SIZE", "MASTER_ADDR", "MASTER_PORT", cluster.MPIVariable} {
		t.Setenv(name, "")
	}
	if l := cluster.Launched(); l != (cluster.Launch{}) {
		t.Errorf("without a launcher: %+v", l)
	}
	t.Setenv("SLURM_NTASKS", "4") // of a batch script
	if l := cluster.Launched(); l.Size != 0 {
		t.Errorf("in a batch script: %+v", l)
	}
	t.Setenv("OMPI_COMM_WORLD_SIZE", "4")
	t.Setenv("OMPI_COMM_WORLD_RANK", "3")
	l := cluster.Launched()
	if l.Rank != 3 || l.Size != 4 || l.Launcher == "" {
		t.Errorf("under mpirun: %+v", l)
	}
	if l.CheckBinding(1, 16, 0) == "" || l.CheckBinding(1, 16, 1) != "" || l.CheckBinding(16, 16, 0) != "" {
		t.Error("binding to one core is not noticed, or something else is")
	}
	t.Setenv("RANK", "1") // these, too, may be there by accident
	t.Setenv("WORLD_SIZE", "2")
	t.Setenv("MASTER_ADDR", "host1")
	if l := cluster.Launched(); l.Size != 4 || l.Address != "" {
		t.Errorf("three of torchrun's variables: %+v", l)
	}
	t.Setenv("MASTER_PORT", "29500")
	if l := cluster.Launched(); l.Rank != 1 || l.Size != 2 || l.Address != "host1" || l.Port != 29500 || l.Err != nil {
		t.Errorf("under torchrun: %+v", l)
	}
	t.Setenv("RANK", "2")
	if l := cluster.Launched(); l.Err == nil {
		t.Errorf("no such rank: %+v", l)
	}
	t.Setenv(cluster.MPIVariable, "off")
	if l := cluster.Launched(); l.Size != 0 {
		t.Errorf("switched off: %+v", l)
	}
}
