//go:build !unix

package early

import "os"

var launcherSignals []os.Signal
