package main

// behindScenarios: brokers with consumers behind them.
func behindScenarios() []Config {
	return []Config{
		named("consumer", one(1), func(c *Config) { // one master
			behind(c, 1, false)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), reset(0, 2)}, 1}}
			c.Commits, c.Piggyback = 3, true
		}),
		named("consumer-2", one(1), func(c *Config) { // an old owner of the queue, and a new one
			behind(c, 2, false)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.Restarts = 0
		}),
		named("consumer-no-file", one(1), func(c *Config) { // the mark of positions alone tells a new start
			behind(c, 1, false)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), set(0, 0)}, 2}}
			c.NoFile = true
		}),
		named("consumer-twice", one(1), func(c *Config) { // a reset to where values are under way
			behind(c, 1, false)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 2}}
			c.Commits, c.Restarts, c.Resends = 3, 0, 0
		}),
		named("consumer-acts", one(1), func(c *Config) { // acts that leave no mark
			behind(c, 1, false)
			c.Ops = []OpCfg{{[]Act{{Kind: aReplaceAll}, rem(0), {Kind: aImpMerge}}, 1}}
			c.Content[0] = 0
		}),
		named("slave", one(1), func(c *Config) { // a slave beside its master
			behind(c, 1, false, true)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
		}),
		named("slave-2", one(1), func(c *Config) { // an old owner at the slave, a new one at the master
			behind(c, 2, false, true)
			c.UserAt = [maxU]uint8{0b10, 0b01}
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.Restarts, c.Resends = 0, 0
		}),
		named("slave-3", one(1), func(c *Config) { // both at the slave
			behind(c, 2, true)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.Restarts = 0
		}),
		named("slave-reads", one(1), func(c *Config) {
			behind(c, 1, true)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0)}, 2}}
			c.Reads, c.ReadsTakeTime = 2, true
		}),
		named("slave-promoted", one(1), func(c *Config) {
			behind(c, 1, false, true)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.Promotes, c.Restarts, c.Resends = 1, 0, 0
		}),
		named("slave-promoted-acts", one(1), func(c *Config) {
			behind(c, 1, true)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), {Kind: aReplaceAll}}, 2}}
			c.Content[0] = 0
			c.Promotes = 1
		}),
		named("slave-absent", one(no), func(c *Config) {
			behind(c, 1, false, true)
			c.Ops = []OpCfg{{[]Act{rem(0), reset(0, 1)}, 1}}
			c.Restarts = 1
		}),
		named("slave-old-master", one(1), func(c *Config) {
			behind(c, 1, false, true)
			c.Ops = []OpCfg{{[]Act{reset(0, 0)}, 1}}
			c.Promotes, c.Demotes, c.Restarts, c.Resends = 1, 1, 0, 0
		}),
		named("slave-entries-shared", one(1), func(c *Config) {
			behind(c, 1, false, true)
			c.Ops = []OpCfg{{[]Act{reset(0, 0), rem(0)}, 1}}
			c.Pairs, c.Restarts, c.Resends = true, 0, 0
		}),
		named("slave-disaster", one(1), func(c *Config) {
			behind(c, 1, false, true)
			c.Ops = nil
			c.Content[0] = 0
			c.Disaster, c.Restarts, c.Resends = 1, 0, 0
		}),
	}
}

// behind makes each slot a broker of one key, a slave or not, with users behind them.
func behind(c *Config, users int, slave ...bool) {
	c.Claims, c.Cons, c.W, c.Cap = true, make([]uint8, len(slave)), 2, 2e6
	c.Users, c.Reads, c.Commits, c.MaxV = users, 1, 2, 2
	for i := range slave {
		c.Inst[i], c.Slave[i] = uint8(i+1), slave[i]
	}
}
