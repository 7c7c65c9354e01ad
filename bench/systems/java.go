package systems

import (
	"path/filepath"
	"slices"
)

// java is the program that runs jars.
const java = "java"

// jvm are the options of a Java server that its authors' scripts set: the heap,
// and G1 with options of their own. The compiler is as shipped.
func jvm(heap string, options ...string) []string {
	return append([]string{"-server", "-Xms" + heap, "-Xmx" + heap, "-XX:+UseG1GC", "-Dfile.encoding=UTF-8"}, options...)
}

// classOf are the arguments that run a class from a folder of jars.
func classOf(jars, class string, args ...string) []string {
	return append([]string{"-cp", filepath.Join(jars, "*"), class}, args...)
}

// startJava starts a Java server.
func (p *process) startJava(dir, name string, jvm, class []string) error {
	return p.start(dir, name, java, slices.Concat(jvm, class)...)
}
