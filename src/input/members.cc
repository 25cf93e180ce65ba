#include "input/members.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/archive/archive_reader.h"
#include "input/archive/sandboxed_reader.h"
#include "input/byte_source.h"
#include "input/decompress.h"
#include "input/limits.h"
#include "input/packing.h"
#include "input/utf16_source.h"

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

// Bytes to inspect for a packing, program or encoding, and for a zip archive after a short script.
constexpr std::size_t kPeekedBytes = 4096;

// Bounds the report for an archive of, for example, a million encrypted members.
constexpr std::uint64_t kMostMemberProblems = 100;

constexpr std::uint64_t kCostOfBzip2 = 8;  // per byte, see Quota::Limit

// Reads the current member of an archive.
class MemberSource : public ByteSource {
 public:
  MemberSource(MemberReader& reader, const ByteSource& archive) : reader_(reader), archive_(archive) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::uint64_t left_out = reader_.left_out();
    const std::size_t got = reader_.Read(buffer, capacity);
    if (reader_.left_out() != left_out) {
      if (holes_.size() >= kMostHoles) holes_.pop_front();
      holes_.emplace_back(given_, reader_.left_out());
    }
    given_ += got;
    return got;
  }
  std::string_view problem() const override {
    const std::string_view own = reader_.member_problem();
    const std::string_view cause = archive_.problem();
    return cause.empty() || own.empty() || !reader_.input_ended() ? own : cause;
  }
  std::uint64_t RawOffset(std::uint64_t offset) const override {
    const auto before =
        std::find_if(holes_.rbegin(), holes_.rend(), [&](const auto& hole) { return hole.first < offset; });
    return before == holes_.rend() ? offset : offset + before->second;
  }

 private:
  // Only the last kMostHoles holes are stored, so earlier offsets are computed too small.
  static constexpr std::size_t kMostHoles = 1000;

  MemberReader& reader_;
  const ByteSource& archive_;
  std::uint64_t given_ = 0;
  std::deque<std::pair<std::uint64_t, std::uint64_t>>
      holes_;  // the position of each hole, and the number of zeros left out up to it
};

class Unpacker {
 public:
  Unpacker(const Limits& limits, const MemberOptions& options,
           const std::function<void(const Artifact&, ByteSource&)>& read,
           const std::function<void(const Problem&)>& problem)
      : quota_(limits, options.control), limits_(quota_.limits()), options_(options), read_(read), problem_(problem) {}

  void Take(const Artifact& artifact, std::unique_ptr<ByteSource> source, int depth);
  void Finish(const Artifact& input) const;

 private:
  void SkipProgram(const Artifact& artifact, std::unique_ptr<PeekedSource> source, int depth);
  void ReportZip(const Artifact& artifact, const PeekedSource& source);
  void ReadPlain(const Artifact& artifact, std::unique_ptr<PeekedSource> source);
  std::unique_ptr<MemberReader> Open(ByteSource& source, Packing packing, std::string* why_not) const;
  void UnpackMembers(const Artifact& artifact, ByteSource& source, Packing packing, int depth);
  void Tell(const Artifact& artifact, std::string_view what);
  void MayDiffer() {
    if (options_.may_differ != nullptr) *options_.may_differ = true;
  }
  void AddProblemOnce(const Artifact& artifact, std::string_view what);

  Quota quota_;
  const Limits& limits_;
  const MemberOptions& options_;
  const std::function<void(const Artifact&, ByteSource&)>& read_;
  const std::function<void(const Problem&)>& problem_;
  std::uint64_t members_ = 0;
  std::uint64_t reported_ = 0;
  std::uint64_t unreported_ = 0;
  std::string last_reported_;
  bool stopped_ = false;  // a limit of the whole input was reached
};

void Unpacker::Tell(const Artifact& artifact, std::string_view what) {
  if (what.empty()) return;
  last_reported_ = what;
  // Only a reported problem ends the input, not one that a read-ahead source has met, so that every run reads the same.
  if (quota_.EndsInput(what)) stopped_ = true;
  if (quota_.IsTimeLimit(what)) MayDiffer();
  if (reported_ >= kMostMemberProblems && !stopped_) {
    ++unreported_;
    return;
  }
  ++reported_;
  problem_({artifact.path, artifact.member, std::string(what)});
}

// A failure also ends the packings around the failing source. Only the innermost, most specific problem is reported.
void Unpacker::AddProblemOnce(const Artifact& artifact, std::string_view what) {
  if (what != last_reported_) Tell(artifact, what);
}

void Unpacker::Finish(const Artifact& input) const {
  if (unreported_ > 0)
    problem_({input.path, input.member, fmt::format("{} more problems are not listed", unreported_)});
}

void Unpacker::Take(const Artifact& artifact, std::unique_ptr<ByteSource> source, int depth) {
  auto peeked = std::make_unique<PeekedSource>(std::move(source), kPeekedBytes);
  if (IsProgram(peeked->beginning())) return SkipProgram(artifact, std::move(peeked), depth);
  if (IsSevenZip(peeked->beginning())) return Tell(artifact, "7z archives are not supported; unpack it first");
  const Packing packing = PackingOf(peeked->beginning());
  if (packing == Packing::kNone && (depth > 0 || limits_.seconds <= 0)) return ReadPlain(artifact, std::move(peeked));
  if (packing != Packing::kNone && depth >= limits_.depth) {
    return Tell(artifact, fmt::format("packed ({}) more than {} levels deep (--max-depth); not read", NameOf(packing),
                                      limits_.depth));
  }
  std::unique_ptr<ByteSource> packed = std::move(peeked);
  if (depth == 0) packed = quota_.Limit(std::move(packed), 0);
  if (packing == Packing::kNone)
    return ReadPlain(artifact, std::make_unique<PeekedSource>(std::move(packed), kPeekedBytes));
  if (IsArchive(packing)) return UnpackMembers(artifact, *packed, packing, depth);
  std::unique_ptr<ByteSource> unpacked = ReadAhead(Decompress(std::move(packed), packing, limits_.memory));
  const std::uint64_t cost = packing == Packing::kBzip2 ? kCostOfBzip2 : 1;
  Take(artifact, quota_.Limit(std::move(unpacked), depth + 1, cost), depth + 1);
}

// Reads a packed program to its end, because its unpacked bytes count towards the limits; seeks to the end of others.
// Reports text or a zip archive at the end, which is not part of it: a log, or a self-extracting archive's content.
void Unpacker::SkipProgram(const Artifact& artifact, std::unique_ptr<PeekedSource> peeked, int depth) {
  constexpr std::uint64_t kTail = 512;
  std::string tail;
  const std::optional<std::uint64_t> size = peeked->Size();
  if (size && *size > kTail) peeked->SeekTo(*size - kTail);
  std::unique_ptr<ByteSource> source = std::move(peeked);
  if (depth == 0) source = quota_.Limit(std::move(source), 0);
  std::vector<char> buffer(std::size_t{1} << 16);
  while (const std::size_t got = source->Read(buffer.data(), buffer.size())) {
    tail.append(buffer.data(), got);
    tail.erase(0, tail.size() - std::min<std::size_t>(tail.size(), kTail));
  }
  if (quota_.EndsInput(source->problem())) return Tell(artifact, source->problem());
  if (IsText(tail)) Tell(artifact, "starts like a program or library but ends as text; not read");
  if (ContainsZip(tail))
    Tell(artifact, "program followed by a zip archive; the archive was not read (unpack it first)");
}

// Reports a zip archive that starts in the first bytes or ends the file.
void Unpacker::ReportZip(const Artifact& artifact, const PeekedSource& source) {
  char bytes[64];
  std::optional<std::string_view> tail = source.Tail(sizeof bytes);
  struct stat status {};
  if (const int file = source.RegularFile(); !tail && file >= 0 && fstat(file, &status) == 0) {
    const ssize_t got =
        pread(file, bytes, sizeof bytes, std::max<off_t>(0, status.st_size - static_cast<off_t>(sizeof bytes)));
    tail.emplace(bytes, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  if (ContainsZip(source.beginning()) || (tail && ContainsZip(*tail)))
    Tell(artifact, "contains a zip archive after other bytes; the archive was not read (remove the bytes before it)");
}

void Unpacker::ReadPlain(const Artifact& artifact, std::unique_ptr<PeekedSource> peeked) {
  const std::string_view beginning = peeked->beginning();
  ReportZip(artifact, *peeked);
  const std::optional<WideText> wide = WideTextOf(beginning);
  if (beginning.starts_with("\xef\xbb\xbf"sv)) peeked->Skip(3);
  if (wide) peeked->Skip(wide->mark);
  std::unique_ptr<ByteSource> source = std::move(peeked);
  if (wide) source = FromWideText(std::move(source), *wide);
  read_(artifact, *source);
  Tell(artifact, source->problem());
}

// Returns null if no reader can be started.
std::unique_ptr<MemberReader> Unpacker::Open(ByteSource& source, Packing packing, std::string* why_not) const {
  if (!limits_.sandbox) return std::make_unique<ArchiveReader>(source, packing, limits_.memory);
  std::unique_ptr<WorkerProcess> process = WorkerProcess::Get(limits_.memory, why_not);
  if (!process) return nullptr;
  const auto why_stop = [this]() -> std::optional<std::string> {
    if (quota_.TimeIsUp()) return TooLongText(limits_);
    if (options_.control != nullptr && options_.control->stopped()) return "";
    return std::nullopt;
  };
  return std::make_unique<SandboxedReader>(std::move(process), source, packing, SandboxedReader::Clock{why_stop});
}

void Unpacker::UnpackMembers(const Artifact& artifact, ByteSource& source, Packing packing, int depth) {
  last_reported_.clear();
  std::string why_not;
  const std::unique_ptr<MemberReader> reader = Open(source, packing, &why_not);
  if (!reader) {
    MayDiffer();
    return Tell(artifact, why_not);
  }
  ArchiveMember member;
  while (!stopped_ && reader->Next(&member)) {
    if (++members_ > limits_.members) {
      stopped_ = true;
      return Tell(artifact,
                  fmt::format("stopped after {} members (--max-members); the rest was not read", limits_.members));
    }
    if (!member.has_content) continue;
    const Artifact inner = {artifact.path, artifact.member.empty() ? member.name : artifact.member + "/" + member.name};
    if (!member.unreadable.empty()) {
      Tell(inner, member.unreadable);
      continue;
    }
    std::unique_ptr<ByteSource> content = std::make_unique<MemberSource>(*reader, source);
    // Only zip members are compressed. A worker unpacks ahead anyway.
    if (!limits_.sandbox && packing == Packing::kZip) content = ReadAhead(std::move(content));
    Take(inner, quota_.Limit(std::move(content), depth + 1), depth + 1);
  }
  if (stopped_) return;
  if (reader->may_differ()) MayDiffer();
  AddProblemOnce(artifact, source.problem().empty() ? reader->problem() : source.problem());
}

}  // namespace

void ReadMembers(const Artifact& artifact, std::unique_ptr<ByteSource> source, const Limits& limits,
                 const std::function<void(const Artifact&, ByteSource&)>& read,
                 const std::function<void(const Problem&)>& problem, const MemberOptions& options) {
  Unpacker unpacker(limits, options, read, problem);
  unpacker.Take(artifact, std::move(source), 0);
  unpacker.Finish(artifact);
}

}  // namespace whyoom
