// Command protogen generates the Go code of the API: it compiles .proto files
// and hands them to the two generators that this module pins, so that nothing
// but Go is needed.
//
//	protogen [-check] FOLDER
//
// FOLDER is the root of the .proto files and of the code; -check writes
// nothing and fails where the code is not what the files say.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/linker"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

// generators are the tools of this module that write code, in order.
var generators = []string{"protoc-gen-go", "protoc-gen-connect-go"}

func main() {
	check := flag.Bool("check", false, "write nothing; fail where the code differs")
	flag.Parse()
	if flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: protogen [-check] FOLDER")
		os.Exit(64)
	}
	if err := run(context.Background(), flag.Arg(0), *check); err != nil {
		fmt.Fprintln(os.Stderr, "protogen:", err)
		os.Exit(1)
	}
}

// run generates the code of all .proto files under root.
func run(ctx context.Context, root string, check bool) error {
	names, err := protoFiles(root)
	if err != nil {
		return err
	}
	request, err := compile(ctx, root, names)
	if err != nil {
		return err
	}
	var stale []string
	for _, generator := range generators {
		files, err := generate(ctx, generator, request)
		if err != nil {
			return fmt.Errorf("%s: %w", generator, err)
		}
		for _, f := range files {
			differs, err := put(filepath.Join(root, filepath.FromSlash(f.GetName())), []byte(f.GetContent()), check)
			if err != nil {
				return err
			}
			if differs {
				stale = append(stale, f.GetName())
			}
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("not what the .proto files say: %s; run make generate", strings.Join(stale, ", "))
	}
	return nil
}

// protoFiles gives the names of the .proto files under root, sorted.
func protoFiles(root string) (names []string, err error) {
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) != ".proto" {
			return err
		}
		rel, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	if err == nil && len(names) == 0 {
		err = fmt.Errorf("no .proto files under %s", root)
	}
	return names, err
}

// compile gives what a generator is asked.
func compile(ctx context.Context, root string, names []string) (*pluginpb.CodeGeneratorRequest, error) {
	c := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{root}}),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := c.Compile(ctx, names...)
	if err != nil {
		return nil, fmt.Errorf("compiling: %w", err)
	}
	return &pluginpb.CodeGeneratorRequest{
		FileToGenerate: names,
		Parameter:      proto.String("paths=source_relative"),
		ProtoFile:      withImports(files),
	}, nil
}

// withImports gives the descriptors of the files and of what they import, each
// once and behind its imports.
func withImports(files linker.Files) (list []*descriptorpb.FileDescriptorProto) {
	seen := map[string]bool{}
	var add func(protoreflect.FileDescriptor)
	add = func(f protoreflect.FileDescriptor) {
		if seen[f.Path()] {
			return
		}
		seen[f.Path()] = true
		for i := range f.Imports().Len() {
			add(f.Imports().Get(i).FileDescriptor)
		}
		list = append(list, protoutil.ProtoFromFileDescriptor(f))
	}
	for _, f := range files {
		add(f)
	}
	return list
}

// generate asks one generator for its files, in the order of their names.
func generate(ctx context.Context, generator string, q *pluginpb.CodeGeneratorRequest) ([]*pluginpb.CodeGeneratorResponse_File, error) {
	in, err := proto.Marshal(q)
	if err != nil {
		return nil, fmt.Errorf("encoding the request: %w", err)
	}
	cmd := exec.CommandContext(ctx, "go", "tool", generator)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(in), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("running it: %w", err)
	}
	var r pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(out, &r); err != nil {
		return nil, fmt.Errorf("decoding the answer: %w", err)
	}
	if r.Error != nil {
		return nil, errors.New(r.GetError())
	}
	slices.SortFunc(r.File, func(a, b *pluginpb.CodeGeneratorResponse_File) int {
		return strings.Compare(a.GetName(), b.GetName())
	})
	return r.File, nil
}

// put writes a file, or with check tells whether it differs.
func put(path string, content []byte, check bool) (differs bool, err error) {
	if check {
		old, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, fmt.Errorf("reading the code: %w", err)
		}
		return !bytes.Equal(old, content), nil
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, fmt.Errorf("making the folder: %w", err)
	}
	if err := os.WriteFile(path, content, 0o644); err != nil {
		return false, fmt.Errorf("writing the code: %w", err)
	}
	return false, nil
}
