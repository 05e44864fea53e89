package service

import "syscall"

// orphansDie has the kernel kill a child whose parent is gone.
func orphansDie() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
