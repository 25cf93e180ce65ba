// Everything that lies in an input as plain bytes: the input itself, or what is packed in it, however deep.
#pragma once

#include <functional>
#include <memory>

#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/limits.h"

namespace whyoom {

struct MemberOptions {
  const ReadControl* control = nullptr;  // borrowed: ends an archive soon after it says to stop
  bool* may_differ = nullptr;            // borrowed, may be null: set where what is told may not hold another time,
                                         // since time was over or the system did not give what it takes
};

// Calls `read` once for each piece of plain bytes in `source`, in the order in which they lie there: for `artifact`
// itself where it is plain or compressed only; else for each file in the archive, with its name as the member
// ("inner.tar/job.log" for an archive in the archive). Text in UTF-16 or UTF-32 comes as UTF-8, without a byte order
// mark. A program or library is passed over: its messages are not printed by anyone. It is a problem if it ends as text
// or as a zip archive, or if plain bytes contain a zip archive behind other bytes.
// `read` is to read the source to its end; no thread but the caller's calls it.
//
// Calls `problem` for whatever could not be read: damaged, encrypted, cut short or over a limit. What came before has
// been read by then, and what follows is, where it can be found. Links, folders and devices have no bytes and are no
// problem.
void ReadMembers(const Artifact& artifact, std::unique_ptr<ByteSource> source, const Limits& limits,
                 const std::function<void(const Artifact&, ByteSource&)>& read,
                 const std::function<void(const Problem&)>& problem, const MemberOptions& options = {});

}  // namespace whyoom
