#include "crosscompile/codegen/llvm/memory/alias_scopes.h"

#include "crosscompile/ir/visitor.h"

#include <llvm/IR/Instructions.h>
#include <llvm/IR/MDBuilder.h>

#include <set>

namespace ferry::codegen {
namespace {

using Pair = std::pair<const ir::Buffer*, const ir::Buffer*>;

// Collects all buffers of a body in order of first occurrence, the buffers in the workspace, and the pairs of buffers
// that one store accesses together.
class Collector : public ir::Visitor {
 public:
  std::vector<const ir::Buffer*> buffers;
  std::unordered_set<const ir::Buffer*> in_workspace;
  std::set<Pair> together;

  void add(const ir::Buffer* buffer) {
    if (known_.insert(buffer).second) buffers.push_back(buffer);
  }

 protected:
  using ir::Visitor::visit_node;
  void visit_node(const ir::Allocate& node) override {
    add(node.buffer.get());
    if (node.offset.defined()) in_workspace.insert(node.buffer.get());
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::Load& node) override {
    add(node.buffer.get());
    if (storing_ != nullptr) {
      together.insert({storing_, node.buffer.get()});
      together.insert({node.buffer.get(), storing_});
    }
    ir::Visitor::visit_node(node);
  }
  void visit_node(const ir::Store& node) override {
    add(node.buffer.get());
    storing_ = node.buffer.get();
    ir::Visitor::visit_node(node);
    storing_ = nullptr;
  }

 private:
  std::unordered_set<const ir::Buffer*> known_;
  const ir::Buffer* storing_ = nullptr;
};

}  // namespace

AliasScopes::AliasScopes(llvm::LLVMContext& context, const ir::Function& function) {
  Collector found;
  for (const ir::FunctionParameter& parameter : function.parameters) {
    if (parameter.kind == ParameterKind::tensor) found.add(parameter.buffer.get());
  }
  found.visit(function.body);

  llvm::MDBuilder metadata(context);
  llvm::MDNode* domain = metadata.createAnonymousAliasScopeDomain();
  std::unordered_map<const ir::Buffer*, llvm::MDNode*> scopes;
  for (const ir::Buffer* buffer : found.buffers) scopes[buffer] = metadata.createAnonymousAliasScope(domain);

  // Buffers of the workspace may share bytes unless they are needed at the same time; two buffers that one statement
  // uses are.
  const auto disjoint = [&](const ir::Buffer* a, const ir::Buffer* b) {
    return !found.in_workspace.contains(a) || !found.in_workspace.contains(b) || found.together.contains({a, b});
  };
  for (const ir::Buffer* buffer : found.buffers) {
    llvm::SmallVector<llvm::Metadata*, 8> others;
    for (const ir::Buffer* other : found.buffers) {
      if (other != buffer && disjoint(buffer, other)) others.push_back(scopes[other]);
    }
    Entry& entry = entries_[buffer];
    entry.own = llvm::MDNode::get(context, {scopes[buffer]});
    entry.others = others.empty() ? nullptr : llvm::MDNode::get(context, others);
  }
  for (const ir::FunctionParameter& parameter : function.parameters) {
    if (parameter.kind == ParameterKind::tensor && parameter.direction == Direction::in) {
      entries_[parameter.buffer.get()].constant = true;
    }
  }
}

AliasScopes::AliasScopes(const AliasScopes& all, const ir::Stmt& body) {
  Collector found;
  found.visit(body);
  std::unordered_set<const llvm::Metadata*> scopes;
  for (const ir::Buffer* buffer : found.buffers) scopes.insert(all.entries_.at(buffer).own->getOperand(0).get());
  for (const ir::Buffer* buffer : found.buffers) {
    Entry entry = all.entries_.at(buffer);
    llvm::SmallVector<llvm::Metadata*, 8> others;
    if (entry.others != nullptr) {
      for (const llvm::MDOperand& other : entry.others->operands())
        if (scopes.contains(other.get())) others.push_back(other.get());
    }
    entry.others = others.empty() ? nullptr : llvm::MDNode::get(entry.own->getContext(), others);
    entries_.emplace(buffer, entry);
  }
}

void AliasScopes::mark(llvm::Instruction* access, const ir::Buffer* buffer) {
  const Entry& entry = entries_.at(buffer);
  access->setMetadata(llvm::LLVMContext::MD_alias_scope, entry.own);
  if (entry.others != nullptr) access->setMetadata(llvm::LLVMContext::MD_noalias, entry.others);
  if (entry.constant && llvm::isa<llvm::LoadInst>(access)) {
    access->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(access->getContext(), {}));
  }
}

}  // namespace ferry::codegen
