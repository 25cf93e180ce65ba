// Unpacks an input: calls back for the input itself or for everything packed in it, at any depth.
#pragma once

#include <functional>
#include <memory>

#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/limits.h"

namespace whyoom {

struct MemberOptions {
  const ReadControl* control = nullptr;  // borrowed, may be null: a stop request ends an archive soon
  bool* may_differ = nullptr;  // borrowed, may be null: set if a second run may give another result, because of a time
                               // limit or a failure of the system
};

// Calls `read` once for each stream of unpacked bytes in `source`, in stored order: for `artifact` itself if it is
// plain or only compressed; otherwise for each file in the archive, with its name as the member ("inner.tar/job.log"
// for an archive inside the archive). Converts UTF-16 and UTF-32 to UTF-8 and drops a byte order mark. Skips programs
// and libraries, because no job printed the messages in them; that is a problem only if one ends with text or a zip
// archive. Plain bytes that contain a zip archive after other bytes are a problem, too. `read` must read the source to
// its end; only the calling thread calls it.
//
// Calls `problem` for everything that could not be read: damaged, encrypted, truncated or over a limit. Passes data
// before the damage to `read`, and data after it if that can be found. Links, folders and devices have no bytes and are
// not a problem.
void ReadMembers(const Artifact& artifact, std::unique_ptr<ByteSource> source, const Limits& limits,
                 const std::function<void(const Artifact&, ByteSource&)>& read,
                 const std::function<void(const Problem&)>& problem, const MemberOptions& options = {});

}  // namespace whyoom
