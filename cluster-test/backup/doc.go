// Package backup takes backups of clusters of processes and restores them, while
// consumers commit, while the tool or the leader is killed, and through every
// node; the public faults that it is named after are C39 to C41.
package backup
