//! Whether a client is still there while its statement runs.

use std::io;
use std::time::Duration;

use tokio::net::TcpStream;

/// How often it is looked where a client has sent more than was read.
const LOOK: Duration = Duration::from_secs(1);

/// A second handle of a client's connection, which is never read.
#[derive(Debug)]
pub(super) struct Line(TcpStream);

impl Line {
    /// A handle beside a connection.
    pub(super) fn beside(stream: TcpStream) -> io::Result<(TcpStream, Self)> {
        let stream = stream.into_std()?;
        let beside = stream.try_clone()?;
        let line = Self(TcpStream::from_std(beside)?);
        Ok((TcpStream::from_std(stream)?, line))
    }

    /// Until the client is gone.
    pub(super) async fn gone(&self) {
        // What is sent ahead hides the end behind it; statements have a time of their own.
        while let Ok(1..) = self.0.peek(&mut [0]).await {
            tokio::time::sleep(LOOK).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;
    use tokio::net::TcpListener;
    use tokio::time::timeout;

    use super::*;

    #[tokio::test]
    async fn a_client_that_goes_is_noticed_and_one_that_waits_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let mut client = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let (_stream, line) = Line::beside(listener.accept().await.unwrap().0).unwrap();
        let short = Duration::from_millis(200);
        assert!(timeout(short, line.gone()).await.is_err());
        client.shutdown().await.unwrap();
        assert!(timeout(Duration::from_secs(5), line.gone()).await.is_ok());
    }
}
