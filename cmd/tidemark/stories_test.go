package main

// stories are all that golden files record, by command; the help texts come
// beside them.
var stories = []story{
	{name: "get", tell: tellGet},
	{name: "commit", tell: tellCommit},
	{name: "group-list", tell: tellGroupList},
	{name: "group-describe", tell: tellGroupDescribe},
	{name: "group-describe-lag", tell: tellGroupLag, apart: true},
	{name: "group-reset", tell: tellGroupReset},
	{name: "group-reset-broker", tell: tellGroupResetBroker, apart: true},
	{name: "group-reset-partial", tell: tellGroupResetPartial, apart: true},
	{name: "group-set", tell: tellGroupSet},
	{name: "group-clone", tell: tellGroupClone},
	{name: "group-remove", tell: tellGroupRemove},
	{name: "group-expire", tell: tellGroupExpire, apart: true},
	{name: "topic", tell: tellTopic},
	{name: "import", tell: tellImport, apart: true},
	{name: "export", tell: tellExport},
	{name: "dump", tell: tellDump, apart: true},
	{name: "rocketmq-diff", tell: tellRocketMQDiff, apart: true},
	{name: "rocketmq-import", tell: tellRocketMQImport, apart: true},
	{name: "contexts", tell: tellContexts, apart: true},
	{name: "cert", tell: tellCert, apart: true},
	{name: "cluster", tell: tellCluster, apart: true},
	{name: "cluster-claims", tell: tellClusterClaims},
	{name: "cluster-unhealthy", tell: tellClusterUnhealthy, apart: true},
	{name: "check-health", tell: tellCheckHealth, apart: true},
	{name: "check-health-down", tell: tellCheckHealthDown, apart: true},
	{name: "names", tell: tellNames},
	{name: "usage", tell: tellUsage},
	{name: "version", tell: tellVersion},
}
