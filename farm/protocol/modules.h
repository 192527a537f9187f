// A farm keeps modules for those who compare kernels of earlier commits with those of today: objects, which are modules
// and their blobs, by their hash; baselines, which name the modules of a suite's cases; and verdicts. The farm reads
// neither modules nor verdicts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "farm/protocol/field_kinds.h"
#include "ferry/hash.h"

namespace ferry::farm::wire {

// The bytes of all objects and verdicts that a farm keeps, unless it is configured otherwise.
inline constexpr std::uint64_t kDefaultModuleQuota = std::uint64_t{4} << 30;

// Tag, request struct, response struct, name in FARM.md, directions of the request.
#define FERRY_FARM_MODULE_REQUESTS(X)                                     \
  X(101, FindObjects, ObjectsFound, "find_objects", kFromClient)          \
  X(102, PutObject, ObjectTaken, "put_object", kFromClient)               \
  X(103, GetObject, ObjectPiece, "get_object", kFromClient)               \
  X(104, TrimObjects, ObjectsTrimmed, "trim_objects", kFromClient)        \
  X(105, ListBaseline, BaselinePage, "list_baseline", kFromClient)        \
  X(106, SetBaseline, BaselineSet, "set_baseline", kFromClient)           \
  X(107, ListVerdicts, VerdictPage, "list_verdicts", kFromClient)         \
  X(108, AddVerdict, VerdictAdded, "add_verdict", kFromClient)            \
  X(109, ListBaselines, BaselineNames, "list_baselines", kFromClient)     \
  X(110, DeleteBaseline, BaselineDeleted, "delete_baseline", kFromClient) \
  X(111, DeleteCases, CasesDeleted, "delete_cases", kFromClient)

// Limits, in bytes. What a client sends is smaller than what it receives, as all bodies are.
inline constexpr std::size_t kMaxPieceSent = 28'672;
inline constexpr std::size_t kMaxPieceReceived = std::size_t{256} << 10;
inline constexpr std::uint64_t kMaxObject = std::uint64_t{4} << 30;
inline constexpr std::size_t kMaxVerdict = 8192;
// Limits of lists.
inline constexpr std::size_t kMaxObjectsAsked = 512;
inline constexpr std::size_t kMaxBlobs = 512;  // for one module

inline constexpr fields::List kObjects{kMaxObjectsAsked}, kBlobs{kMaxBlobs}, kMissing{kMaxBlobs + 1};
inline constexpr fields::List kPieceSent{kMaxPieceSent}, kPieceReceived{kMaxPieceReceived}, kVerdict{kMaxVerdict};
inline constexpr fields::Texts kPageOfTexts{kMaxPage, kMaxText};

// Which of the objects the farm has. Those that it has count as used now.
struct FindObjects {
  std::vector<Hash> objects;

  FERRY_FIELDS((objects, kObjects));
};
struct ObjectsFound {
  std::vector<std::uint8_t> is_stored;  // 0 or 1 for each, in the order of the request

  FERRY_FIELDS((is_stored, kObjects));
};

// Pieces follow each other in one connection, which sends one object at a time. What comes before the first piece of
// another object is dropped. With the last piece the contents must have this hash.
struct PutObject {
  Hash object{};
  std::uint64_t bytes = 0;  // all pieces together
  std::uint64_t offset = 0;
  std::vector<std::uint8_t> piece;

  FERRY_FIELDS((object), (bytes), (offset), (piece, kPieceSent));
};
struct ObjectTaken {
  bool is_stored = false;  // it is complete

  FERRY_FIELDS((is_stored));
};

struct GetObject {
  Hash object{};
  std::uint64_t offset = 0;

  FERRY_FIELDS((object), (offset));
};
struct ObjectPiece {
  std::uint64_t bytes = 0;  // the object's size
  std::vector<std::uint8_t> piece;

  FERRY_FIELDS((bytes), (piece, kPieceReceived));
};

// Deletes objects until all of them are within the quota, the oldest first, but none that a baseline needs and none
// that was used during the last hour.
struct TrimObjects {};
struct ObjectsTrimmed {
  std::uint64_t bytes = 0;  // all that are left
  std::uint64_t kept = 0;   // those that may not be deleted
  std::uint64_t quota = 0;

  FERRY_FIELDS((bytes), (kept), (quota));
};

struct ListBaseline {
  std::string suite, name;
  std::uint32_t after = 0;  // so many entries are left out

  FERRY_FIELDS((suite, kText), (name, kText), (after));
};
// The module of a case, as one commit had it.
struct BaselineListing {
  std::string name, target;  // the case's; a target may be as long as a selector
  Hash module{};
  Hash identity{};  // says which source and compiler it comes from
  std::vector<Hash> blobs;
  std::string label;          // the commit
  std::int64_t stored_s = 0;  // since 1970
  // Who stored it, by the key with which he did; the farm sets it. Empty: it was stored before farms noted that.
  std::string holder = {};

  FERRY_FIELDS((name, kText), (target, kSelector), (module), (identity), (blobs, kBlobs), (label, kText), (stored_s),
               (holder, kText));
};
struct BaselinePage {
  std::vector<BaselineListing> entries;  // by name and target
  bool has_more = false;

  FERRY_FIELDS((entries, kPage), (has_more));
};

// The baselines of a suite.
struct ListBaselines {
  std::string suite;

  FERRY_FIELDS((suite, kText));
};
struct BaselineNames {
  std::vector<std::string> names;  // the first of them, sorted

  FERRY_FIELDS((names, kPageOfTexts));
};

// Replaces the module of one case, unless the farm has one that was stored later.
struct SetBaseline {
  std::string suite, name;
  BaselineListing entry;

  FERRY_FIELDS((suite, kText), (name, kText), (entry, kNested));
};
struct BaselineSet {
  std::vector<Hash>
      missing;            // objects of the entry that the farm does not have; if there are any, nothing was replaced
  bool is_older = false;  // nothing was replaced, since there is one that was stored later

  FERRY_FIELDS((missing, kMissing), (is_older));
};

// Deletes a baseline. What its modules consist of may be deleted from then on, and verdicts stay.
struct DeleteBaseline {
  std::string suite, name;

  FERRY_FIELDS((suite, kText), (name, kText));
};
struct BaselineDeleted {
  std::uint32_t cases = 0;  // how many it had; 0: there was no such baseline

  FERRY_FIELDS((cases));
};

// Deletes cases of a baseline, for all targets.
struct DeleteCases {
  std::string suite, name;
  std::vector<std::string> cases;

  FERRY_FIELDS((suite, kText), (name, kText), (cases, kPageOfTexts));
};
struct CasesDeleted {
  std::uint32_t cases = 0;  // how many it had

  FERRY_FIELDS((cases));
};

// Verdicts of earlier runs, newest first.
struct ListVerdicts {
  std::string suite;
  std::string name;          // the case's; empty: all cases
  std::uint64_t before = 0;  // a number; 0: from the newest

  FERRY_FIELDS((suite, kText), (name, kText), (before));
};
struct VerdictListing {
  std::uint64_t number = 0;
  std::vector<std::uint8_t> line;
  std::string holder = {};  // who added it; empty: it was added before farms noted that

  FERRY_FIELDS((number), (line, kVerdict), (holder, kText));
};
struct VerdictPage {
  std::vector<VerdictListing> verdicts;
  bool has_more = false;

  FERRY_FIELDS((verdicts, kPage), (has_more));
};

struct AddVerdict {
  std::string suite;
  std::string name;  // the case's
  std::vector<std::uint8_t> line;

  FERRY_FIELDS((suite, kText), (name, kText), (line, kVerdict));
};
struct VerdictAdded {};

}  // namespace ferry::farm::wire
