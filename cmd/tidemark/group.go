package main

// groupCmd holds what concerns groups.
type groupCmd struct {
	List     groupListCmd     `cmd:"" help:"List the names of groups."`
	Describe groupDescribeCmd `cmd:"" help:"Show all that a group has."`
	Reset    groupResetCmd    `cmd:"" help:"Move a group's offsets: to an offset, a time, a file, another group's, or by a number."`
	Set      groupSetCmd      `cmd:"" help:"Give queues of a group explicit offsets, one or many."`
	Clone    groupCloneCmd    `cmd:"" help:"Copy what one group has to another."`
	Remove   groupRemoveCmd   `cmd:"" help:"Remove a group's offsets, all or some."`
	Expire   groupExpireCmd   `cmd:"" help:"Find groups that have not moved for long, and remove them."`
}
