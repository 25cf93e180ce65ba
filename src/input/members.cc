#include "input/members.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "input/archive/unpacker.h"
#include "input/archive/worker.h"
#include "input/packing.h"
#include "input/utf16_source.h"

namespace whyoom {

struct Members::Level {
  Artifact artifact;
  Packing packing;
  std::unique_ptr<Stream> packed;
  std::unique_ptr<Unpacker> unpacker;
};

// The bytes of the file or of a member, ended at the limits. The file itself is counted, but limited only by time.
class Members::Stream final : public ByteSource {
 public:
  // Borrows `source`, the unpacker of the innermost level or the file. Reads its beginning. `cost`: the work per byte;
  // see Limits::suspicious_bytes.
  Stream(Members& members, ByteSource& source, std::uint64_t cost)
      : members_(members),
        limits_(members.limits_),
        source_(source),
        packed_(members.levels_.empty() ? nullptr : members.levels_.back().packed.get()),
        given_(members.given_.at(members.levels_.size())),
        cost_(cost),
        allowed_(members.levels_.size() > kUsualDepth ? limits_.suspicious_bytes / kDeeperIsLess
                                                      : limits_.suspicious_bytes),
        step_(std::max<std::uint64_t>(allowed_ / kLooks, 1)) {
    beginning_ = ReadUpTo(*this, kBeginning);
  }

  // Shows a packing, a program or an encoding. Valid before the first Read only.
  std::string_view beginning() const { return beginning_; }
  // Lets `control`, which may be null, count the bytes that are read.
  void CountFor(ReadControl* control) { control_ = control; }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    std::size_t got = beginning_.size() > at_ ? beginning_.copy(buffer, capacity, at_) : 0;
    at_ += got;
    if (got == 0) got = ReadFurther(buffer, capacity);
    if (control_ != nullptr) control_->bytes += got;
    return got;
  }

  // If the packed bytes have a problem, that caused any problem of the unpacker.
  std::string_view problem() const override {
    if (!problem_.empty() || source_.problem().empty()) return problem_;
    return packed_ == nullptr || packed_->problem().empty() ? source_.problem() : packed_->problem();
  }
  void AddWork(std::uint64_t bytes) override { members_.looked_at_ += bytes; }

 private:
  static constexpr std::size_t kBeginning = 4096;
  static constexpr std::size_t kUsualDepth = 2;
  static constexpr std::uint64_t kDeeperIsLess = 16;
  static constexpr std::uint64_t kLooks = 32;  // the ratio is checked this many times per suspicious_bytes

  std::size_t ReadFurther(char* buffer, std::size_t capacity) {
    if (!problem_.empty() || capacity == 0) return 0;
    if (members_.stop_.IsRequested()) {
      problem_ = members_.stop_.Problem();
      return 0;
    }
    const std::uint64_t left = packed_ == nullptr ? capacity : Left();
    // An input that ends exactly at the limit has not exceeded it.
    if (char next; left == 0 && source_.Read(&next, 1) > 0) problem_ = members_.reached_ = LimitText();
    if (left == 0) return 0;
    const std::size_t got = source_.Read(buffer, static_cast<std::size_t>(std::min<std::uint64_t>(capacity, left)));
    given_ += got;
    return got;
  }

  // Checks the ratio only at fixed offsets, so that the sizes of reads do not decide where an input ends.
  std::uint64_t Left() const {
    const std::uint64_t left = limits_.bytes - std::min(given_, limits_.bytes);
    if (limits_.suspicious_ratio == 0 || allowed_ == 0) return left;
    if (given_ > 0 && given_ % step_ == 0 && IsSuspicious()) return 0;
    return std::min(left, step_ - given_ % step_);
  }

  bool IsSuspicious() const {
    const std::uint64_t work = given_ * cost_ + members_.looked_at_;
    return work >= allowed_ && work / limits_.suspicious_ratio > members_.given_[0];
  }

  std::string LimitText() const {
    if (given_ >= limits_.bytes)
      return fmt::format("stopped after {} unpacked (--max-bytes); the rest was not read", WholeSize(limits_.bytes));
    return fmt::format(
        "stopped: unpacking and searching it takes more than {} times the work expected for its packed size "
        "(--max-bytes lifts this limit); the rest was not read",
        limits_.suspicious_ratio);
  }

  Members& members_;
  const Limits& limits_;
  ByteSource& source_;
  const ByteSource* const packed_;  // what the source unpacks; null for the file
  std::uint64_t& given_;
  const std::uint64_t cost_;
  const std::uint64_t allowed_;  // this much work is never suspicious
  const std::uint64_t step_;     // distance between checks of the ratio
  ReadControl* control_ = nullptr;
  std::string problem_;
  std::string beginning_;
  std::size_t at_ = 0;  // in the beginning
};

Members::Members(Artifact input, std::unique_ptr<ByteSource> source, const Limits& limits, ReadControl* control)
    : limits_(limits),
      control_(control),
      stop_(control, limits),
      input_(std::move(input)),
      file_(std::move(source)),
      current_(input_),
      given_(static_cast<std::size_t>(std::max(limits.depth, 0)) + 1) {}

Members::~Members() = default;

ByteSource* Members::Next(Artifact* artifact) {
  if (plain_) Report(current_, std::exchange(plain_, nullptr)->problem());
  if (!std::exchange(opened_, true)) Open(*file_, 1);
  while (!plain_ && !stopped_ && !levels_.empty()) OpenNextMember();
  *artifact = current_;
  return plain_.get();
}

std::vector<Problem> Members::TakeProblems() {
  if (unreported_ > 0)
    problems_.push_back({input_.path, input_.member, fmt::format("{} more problems are not listed", unreported_)});
  return std::move(problems_);
}

// Whether the problem is that a limit of the whole input was reached, so that nothing more of it may be read.
bool Members::EndsInput(std::string_view problem) const {
  return !problem.empty() && (problem == reached_ || problem == stop_.Problem());
}

void Members::Report(const Artifact& artifact, std::string_view what) {
  constexpr std::size_t kMostProblems = 100;  // of an archive of, for example, a million encrypted members
  if (what.empty()) return;
  last_reported_ = what;
  // Only a reported problem ends the input: a source around it may have met a limit further on.
  if (EndsInput(what)) stopped_ = true;
  if (stop_.TimeIsUp() || !file_->problem().empty()) may_differ_ = true;
  if (problems_.size() >= kMostProblems && !stopped_) {
    ++unreported_;
  } else {
    problems_.push_back({artifact.path, artifact.member, std::string(what)});
  }
}

// Opens `current_`, whose bytes are `source`, unless it is to be skipped.
void Members::Open(ByteSource& source, std::uint64_t cost) {
  auto stream = std::make_unique<Stream>(*this, source, cost);
  if (IsProgram(stream->beginning())) return Skip(*stream);
  if (PackingOf(stream->beginning()) != Packing::kNone) {
    if (!OpenPacked(&stream)) Skip(*stream);
    return;
  }
  stream->CountFor(control_);
  const std::string_view beginning = stream->beginning();
  plain_ = FromUtf16(std::move(stream), beginning);
}

// Opens `current_` as a level. Returns false, and reports why, if it cannot be unpacked.
bool Members::OpenPacked(std::unique_ptr<Stream>* packed) {
  const Packing packing = PackingOf((*packed)->beginning());
  std::unique_ptr<Unpacker> unpacker;
  std::string why_not;
  last_reported_.clear();
  if (packing == Packing::kSevenZip) {
    why_not = fmt::format("{} archives are not supported; unpack it first", NameOf(packing));
  } else if (std::cmp_greater_equal(levels_.size(), limits_.depth)) {
    why_not = fmt::format("packed ({}) more than {} levels deep; not read", NameOf(packing), limits_.depth);
  } else if (!limits_.sandbox) {
    unpacker = OpenUnpacker(**packed, packing, limits_.memory);
  } else if (auto process = WorkerProcess::Get(limits_.memory, &why_not)) {
    unpacker = std::make_unique<SandboxedReader>(std::move(process), **packed, packing, stop_);
  } else {
    may_differ_ = true;
  }
  Report(current_, why_not);
  if (unpacker) levels_.push_back({current_, packing, std::move(*packed), std::move(unpacker)});
  return why_not.empty();
}

// Opens the innermost packed file's next member as `current_`. Closes the packed file if there is none.
void Members::OpenNextMember() {
  constexpr std::uint64_t kCostOfBzip2 = 8;
  const Level& level = levels_.back();
  std::string name;
  if (!level.unpacker->Next(&name)) return Close();
  if (IsArchive(level.packing) && ++members_ > limits_.members) {
    stopped_ = true;
    return Report(level.artifact, fmt::format("stopped after {} members; the rest was not read", limits_.members));
  }
  current_ = level.artifact;
  if (IsArchive(level.packing)) current_.member += (current_.member.empty() ? "" : "/") + name;
  Open(*level.unpacker, level.packing == Packing::kBzip2 ? kCostOfBzip2 : 1);
}

// A failure also ends the packings around the failing source. Only the innermost, most specific problem is reported.
void Members::Close() {
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  if (level.unpacker->may_differ()) may_differ_ = true;
  const std::string_view cause = level.packed->problem();
  const std::string_view what = cause.empty() ? level.unpacker->archive_problem() : cause;
  if (what != last_reported_) Report(level.artifact, what);
}

// Reads a member to its end, because its unpacked bytes count towards the limits.
void Members::Skip(Stream& stream) {
  if (levels_.empty()) return;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (stream.Read(buffer.data(), buffer.size()) > 0) {
  }
  if (EndsInput(stream.problem())) Report(current_, stream.problem());
}

}  // namespace whyoom
