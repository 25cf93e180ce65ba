#include "cli/inputs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/limits.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Longer than any path that a system accepts, even with every byte escaped.
constexpr std::size_t kLongestEntry = std::size_t{64} << 10;
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

}  // namespace

// Reads the next entry into entry_. Stops storing an entry once it is known to be too long. Returns false at the end.
bool PathList::ReadEntry() {
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  entry_.clear();
  while (true) {
    if (at_ == block_.size()) {
      block_.resize(kBlock);
      block_.resize(source_->Read(block_.data(), block_.size()));
      at_ = 0;
      if (block_.empty()) return !entry_.empty();
    }
    const std::size_t end = block_.find(nulls_ ? '\0' : '\n', at_);
    const std::string_view piece = std::string_view(block_).substr(at_, end - at_);
    entry_ += piece.substr(0, kLongestEntry + 1 - std::min(entry_.size(), kLongestEntry + 1));
    at_ += piece.size();
    if (end == std::string::npos) continue;
    ++at_;
    return true;
  }
}

// Returns the name in entry_; empty if it is blank or invalid. Counts invalid entries.
std::string PathList::TakeEntry() {
  if (++number_ == 1 && !nulls_ && entry_.starts_with(kByteOrderMark)) entry_.erase(0, kByteOrderMark.size());
  if (!nulls_ && entry_.ends_with('\r')) entry_.pop_back();
  const bool is_long = entry_.size() > kLongestEntry;
  if (!is_long && entry_.find('\0') == entry_.npos) return entry_ == "-" ? "./-" : entry_;
  Fault& counted = faults_[is_long ? "too long for a path" : "contains a NUL byte"];
  if (counted.count++ == 0) counted.first = number_;
  return {};
}

std::optional<std::string> PathList::Next(std::vector<Problem>* problems) {
  while (!ended_ && ReadEntry()) {
    if (std::string name = TakeEntry(); !name.empty()) return name;
  }
  if (!ended_) ReportFaults(problems);
  ended_ = true;
  return std::nullopt;
}

void PathList::ReportFaults(std::vector<Problem>* problems) {
  if (!source_->problem().empty()) {
    // Not even the first entry could be read.
    if (number_ == 0) throw Error(fmt::format("{}: {}", Printable(path_), source_->problem()));
    problems->push_back({path_, "", std::string(source_->problem())});
  }
  for (const auto& [what, fault] : faults_) {
    const std::string others = fault.count == 1 ? "" : fmt::format(" and {} more", fault.count - 1);
    problems->push_back({path_, "", fmt::format("entry {}{}: {}", fault.first, others, what)});
  }
}

Inputs::Inputs(const Options& options, const ReadControl& control)
    : options_(options), control_(control), stop_(&control, Limits()), walk_(options.paths) {
  if (options.files_from == "-" && std::find(options.paths.begin(), options.paths.end(), "-") != options.paths.end())
    throw Error("standard input cannot be both the list of --files-from and an input");
}

std::optional<Artifact> Inputs::Next() {
  while (true) {
    std::vector<Problem> problems;
    std::optional<Artifact> input = walk_.Next(&problems);
    if (!input && !ended_) ended_ = !OpenNextName(&problems);
    Keep(std::move(problems));  // after each name, because a list may be larger than memory
    if (input || ended_) return input;
  }
}

// Returns whether the list contained another name.
bool Inputs::OpenNextName(std::vector<Problem>* problems) {
  if (options_.files_from.empty()) return false;
  if (!list_) {
    if (IsEndless(options_.files_from)) throw Error("--files-from: device with endless output");
    list_.emplace(options_.files_from, OpenFile(options_.files_from, &stop_), options_.nulls);
  }
  std::optional<std::string> name = control_.stopped() ? std::nullopt : list_->Next(problems);
  if (name) walk_ = Walk({*std::move(name)});
  return name.has_value();
}

void Inputs::Keep(std::vector<Problem> problems) {
  for (Problem& problem : problems) {
    problems_.push_back(std::move(problem));
    BoundProblems(&problems_, &problems_left_out_);
  }
}

std::vector<Problem> Inputs::TakeProblems(std::uint64_t* left_out) {
  *left_out += problems_left_out_;
  return std::move(problems_);
}

FileStamp StampOf(const std::string& path) {
  struct stat status {};
  if (path == "-" || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return {};
  FileStamp stamp;
  stamp.regular = true;
  stamp.size = static_cast<std::uint64_t>(status.st_size);
#ifdef __APPLE__
  const timespec& modified = status.st_mtimespec;
#else
  const timespec& modified = status.st_mtim;
#endif
  stamp.modified = std::int64_t{modified.tv_sec} * 1'000'000'000 + modified.tv_nsec;
  stamp.device = static_cast<std::uint64_t>(status.st_dev);
  stamp.inode = static_cast<std::uint64_t>(status.st_ino);
  return stamp;
}

}  // namespace whyoom
