package main

import "slices"

const no = -1

func one(init int8) Config {
	return Config{NK: 1, Init: [maxK]int8{init, no, no, no}, Cons: []uint8{0, 0}, Commits: 1, MaxV: 3, W: 1,
		Resends: 1, Restarts: 1, NoSpurious: true, Progress: true, Content: [maxK]int8{2, no, no, no}, Cap: 4e6}
}

func two(a, b int8) Config {
	c := one(a)
	c.NK = 2
	c.Init[1] = b
	c.Group = [maxK]uint8{0, 1}
	return c
}

func named(n string, c Config, f func(*Config)) Config {
	c.Name = n
	f(&c)
	return c
}

// scenarios are explored completely (within Cap).
func scenarios() []Config {
	return slices.Concat(baseScenarios(), importScenarios(), ownScenarios(), claimScenarios(), behindScenarios())
}

func set(k uint8, v int8) Act { return Act{Kind: aSet, T: k, Val: v} }

func reset(g uint8, v int8) Act { return Act{Kind: aReset, T: g, Val: v} }

func rem(g uint8) Act { return Act{Kind: aRemoveG, T: g} }

// baseScenarios: single acts beside commits.
func baseScenarios() []Config {
	return []Config{
		named("set", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{set(0, 0), set(0, 2)}, 2}}
			c.MaxV = 2
		}),
		named("set-1-act", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{set(0, 0), set(0, 2)}, 1}}
			c.Resends = 2
			c.Newer = true
		}),
		named("set-absent", one(no), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{set(0, 2), rem(0)}, 3}}
			c.Cons, c.MaxV, c.Restarts = []uint8{0}, 2, 0
		}),
		named("reset", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{reset(0, 0), reset(0, 2), rem(0)}, 2}}
			c.Resends = 2
			c.MaxV = 2
		}),
		named("reset-2-commits", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 2}}
			c.Commits = 2
		}),
		named("window", one(1), func(c *Config) { // the act id falls out of the window
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0), rem(3)}, 3}}
			c.Cons = []uint8{0}
			c.Resends = 2
		}),
		named("absent", one(no), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{rem(0), rem(3), {Kind: aRemoveT, T: 0}}, 2}}
			c.Commits = 2
			c.MaxV = 2
		}),
		named("two-groups", two(1, no), func(c *Config) { // C0, C1 on the absent key of group 1; group 0 gets removed
			c.Cons = []uint8{1, 1}
			c.Ops = []OpCfg{{[]Act{rem(0), rem(1)}, 2}}
			c.MaxV = 2
			c.Restarts = 0
		}),
		named("two-queues", two(1, 1), func(c *Config) { // one group, one topic, two queues
			c.Group = [maxK]uint8{}
			c.Cons = []uint8{0, 1}
			c.Ops = []OpCfg{{[]Act{set(0, 0), set(0, 2)}, 2}}
			c.Restarts, c.MaxV = 0, 2
			c.Commits = 2
		}),
		named("clone", two(2, 1), func(c *Config) {
			c.Cons = []uint8{1, 0}
			c.Ops = []OpCfg{{[]Act{{Kind: aClone, T: 0, T2: 1}, reset(1, 0)}, 2}}
			c.Resends = 2
		}),
		named("clone-absent", two(no, no), func(c *Config) { // source and destination come into being
			c.Cons = []uint8{1, 0}
			c.Ops = []OpCfg{{[]Act{{Kind: aClone, T: 0, T2: 1}, rem(3)}, 3}}
			c.Restarts = 0
			c.MaxV = 2
		}),
		named("expire", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{{Kind: aExpire, T: 0}}, 1}, {[]Act{rem(0), set(0, 1)}, 1}}
			c.Commits = 2
			c.Resends = 1
		}),
		named("expire-1-op", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{{Kind: aExpire, T: 0}, rem(0)}, 2}}
			c.Resends = 2
			c.MaxV = 2
		}),
	}
}

// importScenarios: replaces, imports, cut acts, shared entries, snapshots, a lost cluster.
func importScenarios() []Config {
	return []Config{
		named("replace", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{{Kind: aReplaceAll}, reset(0, 0)}, 2}}
			c.Resends = 2
			c.MaxV = 3
		}),
		named("replace-drops", two(1, 1), func(c *Config) { // key 1 is not in the backup
			c.Cons = []uint8{1, 0}
			c.Ops = []OpCfg{{[]Act{{Kind: aReplaceAll}, {Kind: aReplaceG, T: 1}}, 2}}
			c.MaxV = 2
		}),
		named("import-replace", one(1), func(c *Config) {
			c.Cons = []uint8{0}
			c.Ops = []OpCfg{{[]Act{{Kind: aImpReplace}, {Kind: aAbort}, reset(0, 0)}, 3}}
			c.Resends = 3
			c.MaxV = 3
		}),
		named("import-merge", one(1), func(c *Config) {
			c.Cons = []uint8{0}
			c.Ops = []OpCfg{{[]Act{{Kind: aImpMerge}, {Kind: aAbort}, reset(0, 0)}, 3}}
			c.Resends = 3
			c.MaxV = 3
		}),
		named("import-merge-2-keys-2-operators", two(1, no), func(c *Config) {
			c.Cons = []uint8{0, 1}
			c.Content = [maxK]int8{2, 2, no, no}
			c.Ops = []OpCfg{{[]Act{{Kind: aImpMerge}}, 1}, {[]Act{reset(1, 0), set(0, 0)}, 1}}
			c.Restarts = 0
		}),
		named("parts", two(1, 1), func(c *Config) {
			c.Group = [maxK]uint8{}
			c.Cons = []uint8{0, 1}
			c.W = 2
			c.Ops = []OpCfg{{[]Act{{Kind: aRemoveParts, T: 0}}, 1}}
			c.Commits = 2
			c.MaxV = 2
			c.Restarts = 1
		}),
		named("parts-and-set", two(1, no), func(c *Config) {
			c.Group = [maxK]uint8{}
			c.Cons = []uint8{0, 1}
			c.W = 2
			c.Ops = []OpCfg{{[]Act{{Kind: aRemoveParts, T: 0}, set(1, 0)}, 2}}
			c.MaxV = 2
		}),
		named("two-operators", one(1), func(c *Config) {
			c.Ops = []OpCfg{{[]Act{reset(0, 0), set(0, 2)}, 1}, {[]Act{rem(0), set(0, 2), reset(0, 1)}, 1}}
			c.Resends = 1
		}),
		named("entries-shared", one(1), func(c *Config) {
			c.Pairs = true
			c.Ops = []OpCfg{{[]Act{set(0, 0), reset(0, 0), rem(0)}, 2}}
			c.MaxV = 2
			c.Restarts = 1
			c.Commits = 1
		}),
		named("entries-shared-absent", one(no), func(c *Config) {
			c.Pairs = true
			c.Ops = []OpCfg{{[]Act{set(0, 1), rem(0), rem(3)}, 2}}
			c.MaxV = 2
			c.Restarts = 0
		}),
		named("snapshots", one(1), func(c *Config) {
			c.Snaps = 1
			c.Cons = []uint8{0}
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0), rem(3), set(0, 2)}, 3}}
			c.MaxV = 2
			c.Resends = 1
		}),
		named("snapshots-import", one(1), func(c *Config) {
			c.Snaps = 1
			c.Cons = []uint8{0}
			c.Ops = []OpCfg{{[]Act{{Kind: aImpReplace}, {Kind: aImpMerge}, {Kind: aExpire}, reset(0, 0)}, 2}}
			c.Resends = 2
		}),
		named("disaster", two(1, no), func(c *Config) {
			c.Cons = []uint8{0, 1}
			c.Disaster = 1
			c.Content = [maxK]int8{0, no, no, no}
			c.Ops = []OpCfg{{[]Act{set(0, 2), rem(0)}, 1}}
			c.MaxV = 2
			c.Restarts = 0
		}),
		// A consumer's own Set; acts noticed.
	}
}

// ownScenarios: own Sets, notices and brokers.
func ownScenarios() []Config {
	return []Config{
		named("own-set", one(1), func(c *Config) {
			own(c, 1, 0, 2)
			c.Cons, c.Commits = []uint8{0}, 2
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0), set(0, 2)}, 1}}
			c.Resends = 2
		}),
		named("own-set-twice", one(1), func(c *Config) {
			own(c, 2, 0, 2)
			c.Cons, c.Commits = []uint8{0}, 2
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.Resends, c.MaxV, c.Restarts = 2, 2, 0
		}),
		named("own-set-absent", one(no), func(c *Config) {
			own(c, 1, 1)
			c.Ops = []OpCfg{{[]Act{rem(0), rem(3)}, 2}}
			c.MaxV, c.Restarts = 2, 0
		}),
		named("own-set-2-consumers", one(1), func(c *Config) {
			own(c, 1, 0)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0)}, 1}}
			c.MaxV, c.Newer = 2, true
		}),
		named("own-set-entries-shared", one(1), func(c *Config) {
			own(c, 1, 0)
			c.Pairs, c.Restarts = true, 0
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0), set(0, 2)}, 1}}
		}),
		named("own-set-import", one(1), func(c *Config) {
			own(c, 1, 0)
			c.Cons, c.Commits = []uint8{0}, 2
			c.Pairs = true
			c.Ops = []OpCfg{{[]Act{{Kind: aImpMerge}, {Kind: aImpReplace}, {Kind: aExpire}}, 1}}
		}),
		named("own-set-disaster", one(1), func(c *Config) {
			own(c, 1, 0)
			c.Cons, c.Commits = []uint8{0}, 2
			c.Disaster = 1
			c.Ops = []OpCfg{{[]Act{reset(0, 2)}, 1}}
			c.Restarts = 0
		}),
		named("notice", two(1, no), func(c *Config) { // an idle consumer each of a key that is and one that isn't
			own(c, 0, 0)
			c.Group = [maxK]uint8{}
			c.Cons = []uint8{0, 1}
			c.W = 2
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0), {Kind: aRemoveParts, T: 0}, set(1, 2)}, 2}}
			c.Restarts, c.MaxV = 0, 2
		}),
		// A broker as a client.
		named("broker", two(2, 1), func(c *Config) { // one instance, two keys of one group, restarted
			own(c, 1, 0)
			c.Group = [maxK]uint8{}
			c.Cons, c.Inst = []uint8{0, 1}, [maxC]uint8{1, 1}
			c.Ops = []OpCfg{{[]Act{reset(0, 1), set(0, 0)}, 1}}
		}),
		named("broker-2-instances", one(1), func(c *Config) { // the old one goes on
			own(c, 1, 0)
			c.Inst = [maxC]uint8{1, 2}
			c.Ops = []OpCfg{{[]Act{reset(0, 0), reset(0, 2), rem(0)}, 1}}
		}),
		named("broker-2-instances-2-keys", two(1, 1), func(c *Config) {
			own(c, 1, 0)
			c.Group = [maxK]uint8{}
			c.Cons, c.Inst = []uint8{0, 1, 0, 1}, [maxC]uint8{1, 1, 2, 2}
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.MaxV, c.Resends, c.Restarts = 2, 0, 0
		}),
		named("broker-2-instances-entries-shared", one(1), func(c *Config) {
			own(c, 1, 0)
			c.Inst = [maxC]uint8{1, 2}
			c.Pairs, c.Restarts, c.Resends = true, 0, 1
			c.Ops = []OpCfg{{[]Act{reset(0, 0), reset(0, 2), rem(0)}, 1}}
			c.MaxV = 2
		}),
		// Pending positions; instances that claim.
	}
}

// claimScenarios: pending positions and claims.
func claimScenarios() []Config {
	return []Config{
		named("pending", one(1), func(c *Config) { // one instance and those after it
			claim(c, 1)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), set(0, 2)}, 2}}
			c.Restarts, c.MaxV = 2, 2
		}),
		named("pending-acts", one(1), func(c *Config) { // other acts on a pending position
			claim(c, 1)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), {Kind: aImpMerge}, {Kind: aReplaceAll}, {Kind: aExpire}, rem(0)}, 2}}
			c.MaxV = 2
		}),
		named("pending-clone", two(2, 1), func(c *Config) {
			claim(c, 1)
			c.Cons = []uint8{1}
			c.Ops = []OpCfg{{[]Act{reset(1, 0), {Kind: aClone, T: 0, T2: 1}, reset(0, 0)}, 3}}
			c.Resends = 0
		}),
		named("pending-2-keys", two(1, no), func(c *Config) {
			claim(c, 1, 1)
			c.Group, c.Cons = [maxK]uint8{}, []uint8{0, 1}
			c.Ops = []OpCfg{{[]Act{reset(0, 0), set(1, 1)}, 1}}
			c.MaxV = 2
		}),
		named("claim", one(1), func(c *Config) { // the old instance goes on
			claim(c, 1, 2)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), set(0, 2)}, 1}}
			c.MaxV = 2
		}),
		named("claim-2-acts", one(1), func(c *Config) {
			claim(c, 1, 2)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 2}}
			c.MaxV, c.Resends, c.Restarts = 2, 0, 0
		}),
		named("claim-absent", one(no), func(c *Config) {
			claim(c, 1, 2)
			c.Ops = []OpCfg{{[]Act{rem(0), reset(0, 1)}, 1}}
			c.MaxV = 2
		}),
		named("claim-window", one(1), func(c *Config) { // the claim's id falls out of the window
			claim(c, 1, 2)
			c.Ops = []OpCfg{{[]Act{rem(3)}, 1}}
			c.MaxV, c.Resends = 2, 2
		}),
		named("claim-sets", one(2), func(c *Config) {
			claim(c, 1, 2)
			own(c, 1, 0)
			c.Ops = []OpCfg{{[]Act{reset(0, 1)}, 1}}
			c.Restarts, c.Pairs = 0, true
		}),
		named("claim-scopes", two(1, 1), func(c *Config) { // a group's claim within the broker's
			claim(c, 1, 1, 2)
			c.Cons, c.Scope = []uint8{0, 1, 1}, [maxC]uint8{0, 0, 2}
			c.Ops = []OpCfg{{[]Act{reset(1, 0), {Kind: aClaim, T: 1}}, 1}}
			c.MaxV, c.Restarts = 2, 0
		}),
		named("claim-and-consumer", one(1), func(c *Config) { // a consumer that claims nothing, with Sets
			claim(c, 0, 1)
			own(c, 1, 0)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.MaxV = 2
		}),
		named("claim-tool", one(1), func(c *Config) { // an operator's acts go through the first instance
			claim(c, 1, 2)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), set(0, 2), {Kind: aExpire}}, 1}}
			c.Via[0], c.MaxV = 1, 2
		}),
		named("claim-entries-shared", one(1), func(c *Config) {
			claim(c, 1, 2)
			c.Pairs, c.Restarts = true, 0
			c.Ops = []OpCfg{{[]Act{reset(0, 0), set(0, 2), rem(0)}, 1}}
			c.MaxV = 2
		}),
		named("claim-snapshots", one(1), func(c *Config) {
			claim(c, 1, 2)
			c.Snaps, c.Restarts, c.Resends = 1, 0, 0
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0)}, 1}}
			c.MaxV = 2
		}),
		named("claim-disaster", one(1), func(c *Config) {
			claim(c, 1, 2)
			c.Disaster, c.Restarts = 1, 0
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.MaxV = 2
		}),
	}
}

// claim makes slot i a slot of instance inst[i], which claims the broker at its start;
// operators' acts leave positions pending.
func claim(c *Config, inst ...uint8) {
	own(c, 0, 0)
	c.Claims, c.Inst, c.Cons, c.W = true, [maxC]uint8{}, make([]uint8, len(inst)), 2
	c.Cap = 2e6
	copy(c.Inst[:], inst)
}

// own lets every consumer set its own key n times to one of vs, and ask for newer epochs.
func own(c *Config, n uint8, vs ...int8) { c.Sets, c.SetN, c.Notice = vs, n, true }

func scenario(n string) Config {
	for _, c := range scenarios() {
		if c.Name == n {
			return c
		}
	}
	panic(n)
}

// large is for random walks.
func large() Config {
	return Config{Name: "large", NK: 4, Group: [maxK]uint8{0, 0, 1, 1}, Topic: [maxK]uint8{0, 1, 0, 1}, Init: [maxK]int8{1, no, no, 2},
		Cons: []uint8{0, 0, 1, 2}, Commits: 5, MaxV: 9, W: 2, Resends: 8, Restarts: 4, NoSpurious: true, Progress: true, Newer: true, Pairs: true,
		Content: [maxK]int8{3, no, 2, no}, Snaps: 1,
		Ops: []OpCfg{
			{[]Act{{Kind: aSet, T: 0, Val: 2}, {Kind: aSet, T: 1, Val: 3}, {Kind: aReset, T: 0, Val: 1}, {Kind: aRemoveG, T: 0}, {Kind: aRemoveT, T: 1}, {Kind: aClone, T: 0, T2: 1}, {Kind: aRemoveG, T: 3}}, 4},
			{[]Act{{Kind: aExpire, T: 0}, {Kind: aExpire, T: 1}, {Kind: aReplaceAll}, {Kind: aReplaceG, T: 0}, {Kind: aImpMerge}, {Kind: aImpReplace}, {Kind: aAbort}, {Kind: aRemoveG, T: 1}, {Kind: aSet, T: 2, Val: 1}}, 4},
		}}
}

// largeOwn adds own Sets and notices, two of the consumers being one broker.
func largeOwn() Config {
	c := large()
	c.Name = "large-own"
	own(&c, 2, 1, 3, 5)
	c.Inst = [maxC]uint8{0, 0, 1, 1}
	c.Disaster = 1
	return c
}

// largeBroker is two instances of a broker with two keys.
func largeBroker() Config {
	c := largeOwn()
	c.Name = "large-broker"
	c.Cons, c.Inst = []uint8{0, 1, 0, 1}, [maxC]uint8{1, 1, 2, 2}
	return c
}

// largeClaim is two instances that claim, and one of a group's claim within theirs.
func largeClaim() Config {
	c := largeBroker()
	c.Name = "large-claim"
	c.Claims, c.Cons, c.Inst, c.Scope = true, []uint8{0, 1, 0, 1}, [maxC]uint8{1, 1, 2, 3}, [maxC]uint8{0, 0, 0, 1}
	c.Ops[0].Menu = append(c.Ops[0].Menu, Act{Kind: aClaim, T: 1}, Act{Kind: aReset, T: 0}, Act{Kind: aSet, T: 1, Val: 1})
	return c
}
