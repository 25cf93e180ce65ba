#include "input/members.h"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "input/archive/sandboxed_reader.h"
#include "input/archive/unpacker.h"
#include "input/packing.h"
#include "input/utf16_source.h"

namespace whyoom {
namespace {

// Bytes to inspect for a packing, a program or an encoding.
constexpr std::size_t kPeekedBytes = 4096;

// Bounds the report for an archive of, for example, a million encrypted members.
constexpr std::uint64_t kMostMemberProblems = 100;

constexpr std::uint64_t kCostOfBzip2 = 8;  // per byte, see Quota::Limit

// Reads the current member of a packed file.
class MemberSource : public ByteSource {
 public:
  MemberSource(Unpacker& unpacker, const ByteSource& packed) : unpacker_(unpacker), packed_(packed) {}

  std::size_t Read(char* buffer, std::size_t capacity) override { return unpacker_.Read(buffer, capacity); }

  // If the packed bytes have a problem, that caused any other problem.
  std::string_view problem() const override {
    const std::string_view own = unpacker_.member_problem();
    return own.empty() || packed_.problem().empty() ? own : packed_.problem();
  }

 private:
  Unpacker& unpacker_;
  const ByteSource& packed_;
};

}  // namespace

struct Members::Level {
  Artifact artifact;
  Packing packing;
  std::unique_ptr<ByteSource> packed;
  std::unique_ptr<Unpacker> unpacker;
};

Members::Members(Artifact input, std::unique_ptr<ByteSource> source, const Limits& limits, const ReadControl* control)
    : quota_(limits, control),
      input_(std::move(input)),
      raw_(*source),
      file_(quota_.Limit(std::move(source), 0)),
      current_(input_) {}

Members::~Members() = default;

ByteSource* Members::Next(Artifact* artifact) {
  if (plain_) Report(current_, std::exchange(plain_, nullptr)->problem());
  if (file_) Open(std::move(file_));
  while (!plain_ && !stopped_ && !levels_.empty()) {
    if (std::unique_ptr<ByteSource> member = NextMember()) Open(std::move(member));
  }
  *artifact = current_;
  return plain_.get();
}

std::vector<Problem> Members::TakeProblems() {
  if (unreported_ > 0)
    problems_.push_back({input_.path, input_.member, fmt::format("{} more problems are not listed", unreported_)});
  return std::move(problems_);
}

void Members::Report(const Artifact& artifact, std::string_view what) {
  if (what.empty()) return;
  last_reported_ = what;
  // Only a reported problem ends the input: a source around it may have met a limit further on.
  if (quota_.EndsInput(what)) stopped_ = true;
  if (quota_.TimeIsUp() || !raw_.problem().empty()) may_differ_ = true;
  if (problems_.size() >= kMostMemberProblems && !stopped_) {
    ++unreported_;
  } else {
    problems_.push_back({artifact.path, artifact.member, std::string(what)});
  }
}

// Opens `current_`, whose bytes are `source`, unless it is to be skipped.
void Members::Open(std::unique_ptr<ByteSource> source) {
  auto peeked = std::make_unique<PeekedSource>(std::move(source), kPeekedBytes);
  const std::string_view beginning = peeked->beginning();
  const Packing packing = PackingOf(beginning);
  if (IsProgram(beginning)) return Skip(std::move(peeked));
  if (packing == Packing::kSevenZip) {
    Report(current_, "7z archives are not supported; unpack it first");
    return Skip(std::move(peeked));
  }
  if (packing == Packing::kNone) return OpenPlain(std::move(peeked));
  const Limits& limits = quota_.limits();
  if (std::cmp_greater_equal(levels_.size(), limits.depth)) {
    Report(current_,
           fmt::format("packed ({}) more than {} levels deep (--max-depth); not read", NameOf(packing), limits.depth));
    return Skip(std::move(peeked));
  }
  OpenPacked(std::move(peeked), packing);
}

void Members::OpenPlain(std::unique_ptr<PeekedSource> peeked) {
  const std::optional<Utf16> utf16 = Utf16Of(peeked->beginning());
  if (peeked->beginning().starts_with("\xef\xbb\xbf")) peeked->Skip(3);
  if (utf16) peeked->Skip(utf16->mark);
  plain_ = std::move(peeked);
  if (utf16) plain_ = FromUtf16(std::move(plain_), utf16->big_endian);
}

void Members::OpenPacked(std::unique_ptr<ByteSource> packed, Packing packing) {
  last_reported_.clear();
  const std::size_t memory = quota_.limits().memory;
  std::unique_ptr<Unpacker> unpacker;
  if (quota_.limits().sandbox) {
    std::string why_not;
    std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(memory, &why_not);
    if (!process) {
      may_differ_ = true;
      Report(current_, why_not);
      return Skip(std::move(packed));
    }
    unpacker = std::make_unique<SandboxedReader>(std::move(process), *packed, packing, quota_);
  } else {
    unpacker = OpenUnpacker(*packed, packing, memory);
  }
  levels_.push_back({current_, packing, std::move(packed), std::move(unpacker)});
}

// Returns the bytes of the innermost packed file's next member, which becomes `current_`. Closes the packed file and
// returns null if there is no other.
std::unique_ptr<ByteSource> Members::NextMember() {
  const Level& level = levels_.back();
  std::string name;
  if (!level.unpacker->Next(&name)) {
    Close();
    return nullptr;
  }
  const Limits& limits = quota_.limits();
  if (IsArchive(level.packing) && ++members_ > limits.members) {
    stopped_ = true;
    Report(level.artifact,
           fmt::format("stopped after {} members (--max-members); the rest was not read", limits.members));
    return nullptr;
  }
  current_ = level.artifact;
  if (IsArchive(level.packing)) current_.member += (current_.member.empty() ? "" : "/") + name;
  return quota_.Limit(std::make_unique<MemberSource>(*level.unpacker, *level.packed), static_cast<int>(levels_.size()),
                      level.packing == Packing::kBzip2 ? kCostOfBzip2 : 1);
}

// A failure also ends the packings around the failing source. Only the innermost, most specific problem is reported.
void Members::Close() {
  const Level level = std::move(levels_.back());
  levels_.pop_back();
  if (level.unpacker->may_differ()) may_differ_ = true;
  const std::string_view cause = level.packed->problem();
  const std::string_view what = cause.empty() ? level.unpacker->problem() : cause;
  if (what != last_reported_) Report(level.artifact, what);
}

// Reads a member to its end, because its unpacked bytes count towards the limits.
void Members::Skip(std::unique_ptr<ByteSource> source) {
  if (levels_.empty()) return;
  std::vector<char> buffer(std::size_t{1} << 16);
  while (source->Read(buffer.data(), buffer.size()) > 0) {
  }
  if (quota_.EndsInput(source->problem())) Report(current_, source->problem());
}

}  // namespace whyoom
