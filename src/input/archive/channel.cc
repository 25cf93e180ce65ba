#include "input/archive/channel.h"

#include <poll.h>
#include <sys/socket.h>

#include <cerrno>

namespace whyoom::archive_channel {
#ifndef MSG_NOSIGNAL  // where archives are read by the program itself
#define MSG_NOSIGNAL 0
#endif

bool Send(int socket, const Message& message) {
  while (true) {
    const ssize_t sent = send(socket, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent == static_cast<ssize_t>(sizeof(message))) return true;
    if (sent >= 0 || errno != EINTR) return false;
  }
}

Received Receive(int socket, int milliseconds, Message* message) {
  if (milliseconds >= 0) {
    pollfd ready{socket, POLLIN, 0};
    const int polled = poll(&ready, 1, milliseconds);
    if (polled == 0 || (polled < 0 && errno == EINTR)) return Received::kNothingYet;
    if (polled < 0) return Received::kGone;
  }
  while (true) {
    const ssize_t got = recv(socket, message, sizeof(*message), 0);
    if (got == static_cast<ssize_t>(sizeof(*message))) return Received::kMessage;
    if (got >= 0 || errno != EINTR) return Received::kGone;
  }
}

}  // namespace whyoom::archive_channel
