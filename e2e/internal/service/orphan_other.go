//go:build unix && !linux

package service

import "syscall"

// orphansDie is what only Linux can do: elsewhere a killed test leaves its
// servers running.
func orphansDie() *syscall.SysProcAttr { return nil }
