// The file that holds the ceiling of the epochs which a board accepts (farm/protocol/lease/lease_guard.h). Without it a
// restarted server could serve a lease that another one has superseded.
#pragma once

#include <string>

#include "base/descriptor.h"
#include "base/status.h"
#include "farm/protocol/lease/lease_terms.h"

namespace ferry::device {

class CeilingFile {
 public:
  // Opens the file in this folder for one server alone: a second one would accept the same epochs. Fails if the file
  // holds anything but a ceiling; without a file the ceiling is 0.
  static Result<CeilingFile> open(const std::string& folder);
  CeilingFile(CeilingFile&&) = default;
  CeilingFile& operator=(CeilingFile&&) = default;
  // Lets the next server open the file, although child processes that have yet to close their descriptors may live on.
  ~CeilingFile();

  lease::Epoch ceiling() const { return ceiling_; }
  // Returns once the ceiling is on the disk, for which a full disk has room. After a failure the disk holds the
  // previous ceiling or this one.
  Status write(lease::Epoch ceiling);

 private:
  CeilingFile(std::string path, Descriptor folder) : path_(std::move(path)), folder_(std::move(folder)) {}
  Status read();
  // Makes the second file, with which each write exchanges the first: neither takes space that is not taken already.
  void keep_spare() const;
  bool exchange(const std::string& text) const;

  std::string spare() const { return path_ + ".spare"; }

  std::string path_;
  Descriptor folder_;  // locked
  lease::Epoch ceiling_ = 0;
};

}  // namespace ferry::device
