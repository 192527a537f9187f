#include "crosscompile/link/object_set.h"

#include "crosscompile/ir/error.h"
#include "crosscompile/link/relocatable.h"

#include <llvm/Object/Archive.h>

#include <string>

namespace ferry::link {
namespace {

constexpr const char* kOwn = "ferry";
constexpr const char* kUser = "user";

[[noreturn]] void refuse(const std::string& why) { throw CompileError("expected an archive of objects: " + why); }

}  // namespace

std::vector<std::uint8_t> pack(const ObjectSet& set) {
  std::vector<ArchiveMember> members;
  const auto add = [&](const char* kind, const std::vector<std::vector<std::uint8_t>>& objects) {
    for (std::size_t i = 0; i < objects.size(); ++i) members.push_back({kind + std::to_string(i) + ".o", objects[i]});
  };
  add(kOwn, set.objects);
  add(kUser, set.user_objects);
  return archive(members);
}

ObjectSet unpack(std::span<const std::uint8_t> bytes) {
  ObjectSet set;
  const llvm::StringRef text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  auto opened = llvm::object::Archive::create(llvm::MemoryBufferRef(text, "objects"));
  if (!opened) refuse(llvm::toString(opened.takeError()));
  if ((*opened)->isThin()) refuse("got one that only names its members");
  llvm::Error error = llvm::Error::success();
  for (const llvm::object::Archive::Child& child : (*opened)->children(error)) {
    llvm::Expected<llvm::StringRef> name = child.getName();
    if (!name) refuse(llvm::toString(name.takeError()));
    llvm::Expected<llvm::StringRef> contents = child.getBuffer();
    if (!contents) refuse(llvm::toString(contents.takeError()));
    (name->starts_with(kUser) ? set.user_objects : set.objects).emplace_back(contents->begin(), contents->end());
  }
  if (error) refuse(llvm::toString(std::move(error)));
  if (set.objects.empty()) refuse("got one without objects");
  return set;
}

}  // namespace ferry::link
