// Any messages from the process that unpacks: the read ends and returns no more data than the messages contain.
#include <sys/socket.h>
#include <unistd.h>

#include <memory>

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "input/archive/worker.h"

using namespace whyoom;

namespace {

constexpr std::size_t kMemory = std::size_t{1} << 24U;
constexpr std::size_t kMostMessages = 40;  // small enough to fit into the socket

// Returns the number of bytes in all messages.
std::size_t SendMessages(Choices& choices, worker::Channel* channel) {
  constexpr std::string_view kKinds = "NMODEX";
  std::size_t sent = 0;
  for (std::size_t messages = choices.Below(kMostMessages); messages > 0; --messages) {
    const char kind = choices.OneIn(8) ? static_cast<char>(choices.Byte()) : kKinds[choices.Below(kKinds.size())];
    const std::string_view bytes = choices.Bytes(200);
    if (choices.OneIn(16)) {
      Require(send(channel->socket(), "", 0, MSG_NOSIGNAL) == 0, "an empty message is sent");
    } else {
      Require(channel->Send(static_cast<worker::Kind>(kind), bytes), "the message is sent");
    }
    sent += bytes.size();
  }
  return sent;
}

void ReadAll(SandboxedReader& client, std::size_t most, std::size_t capacity) {
  const auto buffer = std::make_unique<char[]>(capacity);
  std::string name;
  std::size_t given = 0;
  std::size_t members = 0;
  while (client.Next(&name)) {
    Require(++members <= kMostMessages, "there are at most as many members as messages");
    Require(name.size() <= kLongestMemberName, "names are bounded");
    given += name.size();
    while (const std::size_t got = client.Read(buffer.get(), capacity)) {
      Require(got <= capacity, "a read returns at most the requested bytes");
      given += got;
    }
    Require(client.Read(buffer.get(), capacity) == 0, "a read at the end returns nothing");
    Require(client.problem().size() <= 2000, "problems are short");
  }
  Require(given <= most, "names and contents are at most the bytes sent");
  Require(!client.Next(&name), "no member follows the last one");
  Require(client.archive_problem().size() <= 2000, "problems are short");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  int ends[2];
  Require(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, ends) == 0, "a socket pair is created");
  worker::Channel other{Descriptor(ends[1])};
  const std::size_t capacity = 1 + choices.Byte();
  const bool whole = choices.OneIn(2);
  const std::size_t sent = SendMessages(choices, &other);
  shutdown(ends[1], SHUT_WR);
  const Stop stop;
  const std::unique_ptr<ByteSource> source = OpenMemory(Bytes(data, size), capacity);
  SandboxedReader client(std::make_unique<WorkerProcess>(-1, Descriptor(ends[0]), kMemory), *source, Packing::kTar,
                         stop);
  if (whole) {
    ReadAll(client, sent, capacity);
  } else {
    // Skip the contents of the members.
    std::string name;
    for (std::size_t members = 0; client.Next(&name); ++members)
      Require(members <= kMostMessages, "there are at most as many members as messages");
  }
  return 0;
}
