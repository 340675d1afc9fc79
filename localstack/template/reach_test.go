package template

import (
	"go/types"
	"strings"

	"golang.org/x/tools/go/packages"
	"golang.org/x/tools/go/ssa"
	"golang.org/x/tools/go/ssa/ssautil"
)

// program is our own code in a form that can be walked. Of what it imports only the types are known.
type program struct {
	*ssa.Program
	concrete []types.Type // our types that can have methods
}

// load takes some seconds, and a lot of memory until the program is forgotten.
func load() (*program, error) {
	config := &packages.Config{Mode: packages.LoadSyntax, Dir: root}
	loaded, err := packages.Load(config, "./events/...", "./ordering/...", "./ddb", "./functions/...", "./cmd/...")
	if err != nil {
		return nil, err
	}
	prog, ours := ssautil.Packages(loaded, ssa.InstantiateGenerics)
	prog.Build()
	p := &program{Program: prog}
	for _, pkg := range ours {
		for _, member := range pkg.Members {
			if t, ok := member.(*ssa.Type); ok && !generic(t.Type()) && !types.IsInterface(t.Type()) {
				p.concrete = append(p.concrete, t.Type(), types.NewPointer(t.Type()))
			}
		}
	}
	return p, nil
}

func generic(t types.Type) bool {
	n, ok := t.(interface{ TypeParams() *types.TypeParamList })
	return ok && n.TypeParams().Len() > 0
}

func (p *program) isOurs(pkg *types.Package) bool {
	return pkg != nil && (pkg.Path() == "inorder" || strings.HasPrefix(pkg.Path(), "inorder/"))
}

// method finds one of ours by its package, type and name.
func (p *program) method(pkg, typ, name string) *ssa.Function {
	in := p.ImportedPackage(pkg)
	return p.LookupMethod(types.NewPointer(in.Type(typ).Type()), in.Pkg, name)
}

// reached is all code of ours that may run once some functions run. It is more rather than less: a function that is
// mentioned may be called, by whoever gets it; a method that is called by an interface may be that of any type of ours
// that has them all; a value that somebody else's interface holds may have its methods called; and what initialises a
// package runs when anything of it does.
type reached map[*ssa.Function]bool

func (p *program) reach(from ...*ssa.Function) reached {
	r := reached{}
	for _, f := range from {
		p.visit(r, f)
	}
	return r
}

func (p *program) visit(r reached, f *ssa.Function) {
	if f == nil || r[f] {
		return
	}
	r[f] = true
	if f.Pkg != nil {
		p.visit(r, f.Pkg.Func("init"))
	}
	for _, block := range f.Blocks {
		for _, instruction := range block.Instrs {
			p.look(r, instruction)
		}
	}
}

func (p *program) look(r reached, instruction ssa.Instruction) {
	for _, operand := range instruction.Operands(nil) {
		if f, ok := (*operand).(*ssa.Function); ok {
			p.visit(r, f)
		}
	}
	switch in := instruction.(type) {
	case ssa.CallInstruction:
		if call := in.Common(); call.IsInvoke() {
			p.implementations(r, call.Value.Type(), call.Method)
		}
	case *ssa.MakeInterface:
		if n, ok := in.Type().(*types.Named); ok && p.isOurs(n.Obj().Pkg()) {
			return // whoever calls it is ours, and looked at
		}
		for m := range in.Type().Underlying().(*types.Interface).Methods() {
			p.visit(r, p.LookupMethod(in.X.Type(), m.Pkg(), m.Name()))
		}
	}
}

func (p *program) implementations(r reached, of types.Type, method *types.Func) {
	wanted := of.Underlying().(*types.Interface)
	for _, t := range p.concrete {
		if types.Implements(t, wanted) {
			p.visit(r, p.LookupMethod(t, method.Pkg(), method.Name()))
		}
	}
}

// isOf reports whether a type is a certain one, or a pointer to it.
func isOf(t types.Type, pkg, name string) bool {
	if pointer, ok := t.Underlying().(*types.Pointer); ok {
		t = pointer.Elem()
	}
	n, ok := t.(*types.Named)
	return ok && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg && n.Obj().Name() == name
}

// service is the SDK's package and the name of a type in it; of any other type both are empty.
func service(t types.Type) (pkg, name string) {
	if pointer, ok := t.(*types.Pointer); ok {
		t = pointer.Elem()
	}
	n, ok := t.(*types.Named)
	if !ok || n.Obj().Pkg() == nil {
		return "", ""
	}
	if pkg, ok = strings.CutPrefix(n.Obj().Pkg().Path(), "github.com/aws/aws-sdk-go-v2/service/"); !ok {
		return "", ""
	}
	return pkg, n.Obj().Name()
}

// embeds reports whether a type has an embedded field of a certain type.
func embeds(t types.Type, pkg, name string) bool {
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return false
	}
	for field := range s.Fields() {
		if field.Embedded() && isOf(field.Type(), pkg, name) {
			return true
		}
	}
	return false
}
