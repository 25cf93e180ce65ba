// Returns the raw lines around the prefilter's hits, and skips the rest without splitting it into lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "input/byte_source.h"
#include "input/prefilter.h"

namespace whyoom {

struct RawLine {
  std::uint64_t number = 0;   // 1-based
  std::uint64_t offset = 0;   // of bytes[0] in the artifact
  std::string_view bytes;     // without the line feed; valid until the next call of Next
  bool after_gap = false;     // the previous line was not returned; false for line 1
  bool may_continue = false;  // no line feed follows, because the input ends or was cut
  bool cut = false;           // a piece of a line longer than Limits::line_bytes; all pieces have the line's number
  bool json = false;          // the artifact begins like a JSON document
};

// A position in an artifact, with the state needed to continue counting lines.
struct Cursor {
  std::uint64_t offset = 0;
  std::uint64_t number = 1;      // of the line that contains it
  std::uint64_t line_start = 0;  // of that line
};

// Literals that matter in the lines before a hit, borrowed. The first `openers` of them start a section that leads to
// the hit (a traceback), so that all lines from there on matter. For the others, only the line itself matters (a
// framework's name).
struct LookBehind {
  const Prefilter* literals = nullptr;
  std::size_t openers = 0;
};

class LineScanner {
 public:
  struct Limits {
    std::size_t block_bytes = std::size_t{256} << 10;   // read at a time; fits a core's cache
    std::size_t before_bytes = std::size_t{64} << 10;   // searched for look-behind literals
    std::size_t close_bytes = std::size_t{2} << 10;     // always returned before a hit; at most before_bytes
    std::size_t line_bytes = std::size_t{1} << 20;      // longer lines are returned in pieces
    std::size_t decide_bytes = std::size_t{640} << 10;  // searched for a trigger before any other hit counts
  };

  static constexpr std::size_t kMostOfSetting = 64;

  struct Options {
    std::function<LookBehind()> lead = nullptr;  // called at the first hit only
    Limits limits = {};
    std::size_t triggers = kAllTriggers;  // how many of the prefilter's first literals are triggers
    std::size_t threads = 0;              // extra threads that search large inputs
  };

  // Borrows all arguments for its lifetime.
  LineScanner(ByteSource& source, const Prefilter& prefilter, Options options);

  // Returns the next line; each line at most once and in order. Returns false at the end, permanently. If `adjacent`,
  // that is the line after the last one returned. Otherwise it is the first later line that matters to the next hit:
  //
  //   jax 0.4.35 on 4 chips          1. a line with a literal that is not an opener
  //   step 7 …
  //   12:00:01 ERROR failed:            and the line before the first opener, whose timestamp applies to it
  //   Traceback (most recent …):     2. all lines from the first opener that leads to the hit, or all lines that follow
  //     File "train.py", line 3         those already returned, if an opener is near their end
  //   saving … (a few lines)         3. all complete lines within close_bytes before the hit
  //   RESOURCE_EXHAUSTED: Ran out    4. the line that contains the hit
  //
  // All of these are within before_bytes before the end of the hit. An opener leads to the hit if at most close_bytes
  // separate it from the next such opener or from the lines of 3; an older traceback belongs to another failure. A
  // piece of a long line counts as a line.
  //
  // The lines do not depend on how the source is chunked, nor on the threads. In an artifact without a trigger, hits
  // are ignored unless it is longer than decide_bytes. Of a literal that is no trigger, only the first kMostOfSetting
  // hits after each trigger count, and those within before_bytes before the next trigger, which count as lines of 1.
  bool Next(bool adjacent, RawLine* line);

  // Returns up to `bytes` bytes from the next line on, without their incomplete last line, and stores where they begin.
  // After Next returned false, returns the last lines of the artifact, from the last line returned on. Valid until the
  // next call of Next. Does not affect the lines that Next returns.
  std::string_view Peek(std::size_t bytes, Cursor* begin);

  // Continues after Next returned false, if the source may have more bytes after it returned 0. If the last line was
  // returned without its end, its rest is returned as another piece of the same line.
  void Resume();

  std::uint64_t bytes_read() const { return end(); }

 private:
  // All positions are offsets in the artifact and do not depend on how the bytes arrive. A line longer than line_bytes
  // is divided into pieces of that length, counted from its start; a shorter line is one piece. A piece includes the
  // line feed after it.

  // A block that was read and is being searched.
  struct Search {
    std::size_t bytes;
    std::future<std::vector<Prefilter::Hit>> hits;
  };

  std::uint64_t end() const { return base_ + size_; }
  const char* At(std::uint64_t offset) const { return buffer_.get() + (offset - base_); }
  std::string_view Bytes(std::uint64_t from, std::uint64_t to) const {
    return {At(from), static_cast<std::size_t>(to - from)};
  }
  std::uint64_t Before(std::uint64_t offset, std::size_t bytes) const {
    return offset - std::min<std::uint64_t>(offset, bytes);
  }
  bool HasSpace() const { return capacity_ - read_ >= limits_.block_bytes; }

  bool Fill();
  void ReadBlock();
  void MakeSpace();
  void Advance(Cursor* cursor, std::uint64_t to) const;
  void SkipTo(std::uint64_t offset);
  bool FindHit();
  bool IsTriggered();
  bool Counts(const Prefilter::Hit& hit);
  bool IsOpener(const Prefilter::Hit& lead) const { return lead.literal < look_behind_.openers; }
  std::vector<Cursor> PiecesBefore(std::uint64_t to) const;
  std::vector<Prefilter::Hit> LeadsTo(std::uint64_t hit_end, std::uint64_t reach);
  std::uint64_t AllFrom(std::uint64_t hit_end, std::uint64_t reach, const std::vector<Prefilter::Hit>& leads,
                        const std::vector<Cursor>& pieces) const;
  void Plan(std::uint64_t hit_end);
  bool Give(RawLine* line);

  ByteSource& source_;
  const Prefilter& prefilter_;
  std::function<LookBehind()> make_look_behind_;
  LookBehind look_behind_;
  const Limits limits_;
  const std::size_t triggers_;
  const std::size_t threads_;
  const std::size_t shared_;  // a hit may begin this far before the searched position
  std::size_t capacity_ = 0;
  std::unique_ptr<char[]> buffer_;
  std::uint64_t base_ = 0;  // offset of buffer_[0] in the artifact
  std::size_t size_ = 0;    // bytes in buffer_ that were searched
  std::size_t read_ = 0;    // bytes in buffer_
  bool source_ended_ = false;
  bool json_ = false;  // see RawLine

  Cursor next_;                      // the first piece not yet returned or skipped
  bool triggered_;                   // hits matter
  std::deque<Prefilter::Hit> hits_;  // in the buffer, not yet handled
  // Since the last trigger: how often each other literal occurred, and the ends of the last hits that did not count.
  std::map<std::size_t, std::size_t> hits_of_settings_;
  std::deque<std::uint64_t> ignored_;
  std::uint64_t given_end_ = 0;  // end of the last piece returned
  std::deque<Cursor> plan_;      // the pieces to return for the current hit
  bool done_ = false;
  std::deque<Search> searches_;  // last, because their destructors wait for the threads
};

}  // namespace whyoom
