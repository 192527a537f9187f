#include "farm/protocol/codec.h"
#include "farm/protocol/fields.h"

namespace ferry::farm::wire {

template <class Archive>
void serialize(Archive& archive, FindObjects& message) {
  archive(limited(message.objects, kMaxObjectsAsked));
}

template <class Archive>
void serialize(Archive& archive, ObjectsFound& message) {
  archive(limited(message.is_stored, kMaxObjectsAsked));
}

template <class Archive>
void serialize(Archive& archive, PutObject& message) {
  archive(message.object, message.bytes, message.offset, limited(message.piece, kMaxPieceSent));
}

template <class Archive>
void serialize(Archive& archive, ObjectTaken& message) {
  archive(message.is_stored);
}

template <class Archive>
void serialize(Archive& archive, GetObject& message) {
  archive(message.object, message.offset);
}

template <class Archive>
void serialize(Archive& archive, ObjectPiece& message) {
  archive(message.bytes, limited(message.piece, kMaxPieceReceived));
}

template <class Archive>
void serialize(Archive&, TrimObjects&) {}

template <class Archive>
void serialize(Archive& archive, ObjectsTrimmed& message) {
  archive(message.bytes, message.kept, message.quota);
}

template <class Archive>
void serialize(Archive& archive, ListBaseline& message) {
  archive(text(message.suite), text(message.name), message.after);
}

template <class Archive>
void serialize(Archive& archive, BaselineListing& listing) {
  archive(text(listing.name), limited(listing.target, kMaxSelector), listing.module, listing.identity,
          limited(listing.blobs, kMaxBlobs), text(listing.label), listing.stored_s, text(listing.holder));
}

template <class Archive>
void serialize(Archive& archive, BaselinePage& message) {
  archive(limited_nested(message.entries, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, ListBaselines& message) {
  archive(text(message.suite));
}

template <class Archive>
void serialize(Archive& archive, BaselineNames& message) {
  archive(limited(message.names, kMaxPage, kMaxText));
}

template <class Archive>
void serialize(Archive& archive, SetBaseline& message) {
  archive(text(message.suite), text(message.name), nested(message.entry));
}

template <class Archive>
void serialize(Archive& archive, BaselineSet& message) {
  archive(limited(message.missing, kMaxBlobs + 1), message.is_older);
}

template <class Archive>
void serialize(Archive& archive, DeleteBaseline& message) {
  archive(text(message.suite), text(message.name));
}

template <class Archive>
void serialize(Archive& archive, BaselineDeleted& message) {
  archive(message.cases);
}

template <class Archive>
void serialize(Archive& archive, DeleteCases& message) {
  archive(text(message.suite), text(message.name), limited(message.cases, kMaxPage, kMaxText));
}

template <class Archive>
void serialize(Archive& archive, CasesDeleted& message) {
  archive(message.cases);
}

template <class Archive>
void serialize(Archive& archive, ListVerdicts& message) {
  archive(text(message.suite), text(message.name), message.before);
}

template <class Archive>
void serialize(Archive& archive, VerdictListing& listing) {
  archive(listing.number, limited(listing.line, kMaxVerdict), text(listing.holder));
}

template <class Archive>
void serialize(Archive& archive, VerdictPage& message) {
  archive(limited_nested(message.verdicts, kMaxPage), message.has_more);
}

template <class Archive>
void serialize(Archive& archive, AddVerdict& message) {
  archive(text(message.suite), text(message.name), limited(message.line, kMaxVerdict));
}

#define FERRY_INSTANTIATE_REQUEST(tag, request, reply, name, directions) \
  FERRY_INSTANTIATE(request)                                             \
  FERRY_INSTANTIATE(reply)
FERRY_FARM_MODULE_REQUESTS(FERRY_INSTANTIATE_REQUEST)
#undef FERRY_INSTANTIATE_REQUEST

}  // namespace ferry::farm::wire
