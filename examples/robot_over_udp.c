/* The loop of robot_over_udp.py in C99 and POSIX: the law and the observer are those that cr.export writes, called once a
   packet. It says the port that it listens on, and holds the robot until a datagram without content, or none, comes.

       ./loop [real]        with "real", it stops when no state comes for PATIENCE ticks */
#define _POSIX_C_SOURCE 200809L
#include "law.h"
#include "velocity.h"
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { JOINTS = 7, STATE = 4 + 4 * JOINTS, COMMAND = 4 + 8 * JOINTS }; /* bytes, the lowest first as in this machine */

int main(int argc, char **argv)
{
  const int real = argc > 1 && strcmp(argv[1], "real") == 0, line = socket(AF_INET, SOCK_DGRAM, 0);
  struct sockaddr_in own = {0}, robot;
  socklen_t size = sizeof own;
  law_state law;
  velocity_state velocity;
  own.sin_family = AF_INET;
  own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (line < 0 || bind(line, (struct sockaddr *)&own, size) || getsockname(line, (struct sockaddr *)&own, &size)) {
    perror("no socket");
    return 1;
  }
  printf("%d\n", ntohs(own.sin_port));
  fflush(stdout);
  law_reset(&law);
  velocity_reset(&velocity);
  for (;;) {
    unsigned char packet[256] = {0};
    socklen_t length = sizeof robot;
    const ssize_t got = recvfrom(line, packet, sizeof packet, 0, (struct sockaddr *)&robot, &length);
    uint32_t tick;
    int32_t counts[JOINTS];
    double q[JOINTS], qd[JOINTS], tau[JOINTS];
    int i, answer = 0;
    if (got >= 0 && got != STATE) return got != 0;
    memcpy(&tick, packet, 4);
    if (got < 0 || tick >= law.tick + PATIENCE) { /* none came in time, or too many were lost */
      printf("no state for %d ticks: the loop stops before tick %lu\n", PATIENCE, (unsigned long)law.tick);
      return 0;
    }
    if (real && law.tick == 0) {
      const struct timeval patience = {PATIENCE / 1000, PATIENCE % 1000 * 1000}; /* a tick is a millisecond */
      setsockopt(line, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    memcpy(counts, packet + 4, sizeof counts);
    if (tick >= law.tick) {                    /* not overtaken by a newer one */
      for (i = 0; i < JOINTS; ++i) q[i] = counts[i] * RESOLUTION;
      velocity_step(&velocity, q, qd);
      while (law.tick <= tick) law_step(&law, q, qd, tau); /* those of lost packets too: time goes on */
      memcpy(packet, &tick, 4);
      memcpy(packet + 4, tau, sizeof tau);
      answer = COMMAND;
    }
    sendto(line, packet, (size_t)answer, 0, (struct sockaddr *)&robot, length);
  }
}
